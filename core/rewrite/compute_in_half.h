#pragma once
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/ir/model.h"

namespace mlopt {

/// What computes in half floats, by those who run it.
struct HalfOptions {
  DType type = DType::kF16;  ///< or kBF16
  /// Why a node stays float32 on their account; empty: it need not.
  std::function<std::string(const Node&)> why_float;
  /// Is that float32 input float32 also where the node computes in half floats?
  std::function<bool(const Node&, size_t input)> keeps_input = {};
  bool sums_in_float32 = false;  ///< of means too
  /// What a constant becomes; empty: half::rounded().
  std::function<Tensor(const Tensor&)> round = {};
};

/// A node with a constant operand that computes in half floats, and where its result was and is.
struct HalfLayer {
  std::string name, op, source, result;
};

struct ComputedInHalf {
  std::vector<HalfLayer> layers;            ///< in schedule order
  std::map<std::string, std::string> left;  ///< node that stays float32 -> why
};

/// Weights and inner values of a float32 model become half floats, with one Cast for each value and direction around
/// the nodes that stay float32: those that options.why_float names, and those whose constants or results do not fit
/// into float16, or are positions and lengths, of which half floats hold few. Inputs and outputs of the model keep
/// their types, and so do nested bodies. Types are inferred.
ComputedInHalf compute_in_half(Model& model, const HalfOptions& options);

}  // namespace mlopt
