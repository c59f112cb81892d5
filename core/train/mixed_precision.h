#pragma once
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/ir/model.h"

namespace mlopt::train {

/// Products of half floats in a training whose weights, gradients and moments stay float32 (Micikevicius et al. 2018).
struct MixedPrecision {
  DType type = DType::kF32;            ///< what products read and give: kF16 or kBF16; kF32: nothing changes
  std::vector<std::string> keep = {};  ///< globs of nodes, and of weights whose readers are meant, that stay float32

  bool on() const { return type != DType::kF32; }
  /// Are losses scaled? Gradients below 2^-24 are 0 in float16.
  bool scales() const { return type == DType::kF16; }
};

/// What a rewrite came to.
struct HalfProducts {
  int64_t half = 0;                     ///< products that read half floats
  std::map<std::string, int64_t> kept;  ///< those that stay float32, by the reason
};

/// The float32 products and convolutions of the main graph read and give `how.type`: behind a Cast of each operand (one
/// for a value that several read) and before a Cast back, whose output has the name that the product's had. Sums are
/// float32 (the backends'), so a result is rounded once. What is differentiated afterwards has its backward products in
/// half precision by the same Casts. Initializers that are not `trained` are rounded here. Types are inferred.
HalfProducts lower_products(Model& model, const MixedPrecision& how, std::span<Value* const> trained);

/// Parameters of half floats become float32 ones of the same names, which the graph reads rounded: half floats lose an
/// update that is small beside the weight, and the square of a small gradient.
void widen_parameters(Graph& graph, std::span<Value*> parameters);

/// Throws Error{kBadInput} for a glob of `keep` that names no node and no weight of any of the models.
void require_named(const MixedPrecision& how, std::span<const Model* const> models);

}  // namespace mlopt::train
