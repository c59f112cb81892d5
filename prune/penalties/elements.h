#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/calib/weights.h"
#include "core/train/builder.h"
#include "prune/spec.h"

namespace mlopt::prune {

/// The float32 weights among those that are trained that `spec` leaves to be pruned.
std::vector<Weight> trained_weights(const Model& model, const Spec& spec,
                                    const std::function<bool(const std::string&)>& trains);
/// Do weights of all layers compete, or has each layer its own share?
bool compete(const Spec& spec);

/// The norm of each element's row, in the shape of the tensor; 1 for rows of zeros. Sizes in these units do not tell
/// what a normalization multiplied an output by.
Tensor row_scales(const Weight& weight);
/// About 2^16 samples, evenly spaced, of tensors of `total` elements together, as a list.
Value* sampled(train::Builder& b, const std::vector<Value*>& tensors, int64_t total);

}  // namespace mlopt::prune
