#pragma once
#include <string>

#include "core/ir/model.h"
#include "core/tensor/compare.h"
#include "tests/support/op.h"

namespace mlopt::test {

/// A small model in the making. Every value that it makes is float32 unless said.
class Net {
 public:
  Net();

  Value* input(const Dims& dims);
  Value* constant(Tensor tensor) { return graph().add_constant("c", std::move(tensor)); }
  Value* op(const std::string& op, std::vector<Value*> inputs, std::vector<Attr> attrs = {});
  /// QuantizeLinear, DequantizeLinear, and one after the other.
  Value* quantize(Value* x, double scale, double zero, DType type = DType::kU8);
  Value* dequantize(Value* x, double scale, double zero, DType type = DType::kU8);
  Value* rounded(Value* x, double scale, double zero, DType type = DType::kU8);
  /// DequantizeLinear of random int8 weights, with a scale for each entry of `axis`.
  Value* weights(const Dims& dims, int64_t axis);
  /// Conv of 3x3 with padding to `channels`, with a bias.
  Value* conv(Value* x, int64_t from, int64_t to);
  void output(Value* value) { graph().add_output(value); }

  Graph& graph() { return *model.graph; }

  Model model;
};

/// Operators of the main graph and how often each occurs: "Conv 2, Relu 1".
std::string listed_ops(const Model& model);

/// How far the outputs of `result` are from those of `source` on the reference backend, for seeded inputs: floats in
/// [-1, 1), integers 0, 1, ... 6. Inputs and outputs must have the same names and types.
Difference changed_by(const Model& source, const Model& result);

/// Operators of the model as the CPU backend compiles it, listed likewise.
std::string prepared_ops(const Model& model);

/// The same as a plan of it has them, whose shapes are known.
std::string specialized_ops(const Model& model);

/// Runs the model on both backends, on seeded inputs in [-1, 1): the outputs differ by `tolerance` at most. `alone`: no
/// kernel of the reference helps the CPU backend.
void require_same_result(const Model& model, double tolerance, bool alone = false);

/// Steps that the CPU backend gives to this kernel, in a run of the model on seeded inputs in [-1, 1).
int64_t steps_by(const Model& model, std::string_view kernel);

}  // namespace mlopt::test
