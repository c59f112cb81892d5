#pragma once
#include <optional>
#include <string>
#include <vector>

#include "core/rewrite/pass.h"

namespace mlopt::qdq {

/// A float value that is stored as integers of 8 bits: (numbers - zero) scale.
struct Stored {
  Value *numbers, *scale, *zero;
  DType type;  ///< kU8 or kI8

  const Tensor& scales() const { return *scale->known_constant(); }
  bool has_one_scale() const { return scales().size() == 1; }
};

/// What DequantizeLinear made `value` from, when its scale and zero point are constants: one, or one for each channel
/// of `axis`. A missing zero point is made.
std::optional<Stored> stored(Value* value, Builder& builder, int axis = -1);
/// The output of a QuantizeLinear with one constant scale; its numbers are null.
std::optional<Stored> stored_by(Node* quantize, Builder& builder);

/// The same constant scale and zero point?
bool same_steps(const Stored& a, const Stored& b);

/// Does rounding into these steps make the activation superfluous, because no step lies outside of what it lets
/// through? True when there is none. The activations are Relu and Clip with constant limits.
bool absorbs(const Stored& output, const Node* activation, const Builder& builder);

/// Do DequantizeLinear before the operator and QuantizeLinear behind its activation, which that absorbs, make of them
/// one operator on integers, for a runtime that knows it by its standard name?
bool is_quantized(const Node& op, const Node& activation, Builder& builder);

/// A bias in units of input scale x weight scale, rounded to int32. `bias` is constant, or DequantizeLinear of a
/// constant; nothing when it is neither or too large.
std::optional<Tensor> bias_steps(const Value* bias, const Stored& input, const Stored& weights);

bool is_float8(DType type);
/// A MatMul, or a Gemm that neither scales nor transposes A?
bool is_plain_product(const NodeView& product);
/// float32 of dims [n]?
bool is_row(const Value& bias, int64_t n);

/// The only output of a new node before the root of the match, which takes the name of the operator that it stands for.
Value* other_op(const Match& match, const Node& like, Builder& builder, std::string op, std::vector<Value*> inputs,
                std::vector<Attr> attrs = {}, std::string domain = "com.microsoft");

}  // namespace mlopt::qdq
