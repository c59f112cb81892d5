#pragma once
#include <span>
#include <vector>

#include "core/calib/observe.h"
#include "core/calib/weights.h"

namespace mlopt::quantize {

/// A value whose features (its last axis) are the columns of these weights and of no others that share a reader.
struct SharedInput {
  Value* value = nullptr;
  std::vector<size_t> weights;  ///< indices into what was given
};

/// Matrix products with constant weights, by what they multiply. Left out are weights whose readers have several
/// inputs.
std::vector<SharedInput> shared_inputs(std::span<const Weight> weights);

/// Can the division go into constants that make the value: scale and bias of a normalization that no one else reads?
bool folds_division(const SharedInput& input, std::span<const Weight> weights);

/// Multiplies the columns of the weights by `scale`, [columns], and divides their input by it: in the constants that
/// make it where that is possible, else by a Mul. What was seen is changed as the input is.
void scale_columns(const SharedInput& input, std::span<const Weight> weights, std::span<Observed> seen,
                   const std::vector<float>& scale);

}  // namespace mlopt::quantize
