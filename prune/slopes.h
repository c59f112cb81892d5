#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "prune/prune.h"

namespace mlopt::prune {

/// Runs the model forward and backward over labelled data, sample by sample, normalizations as they are, and shows for
/// each weight (an initializer) the gradient of the loss, of its shape. Gives the number of samples. Throws
/// Error{kUsage} without labelled data or a loss, Error{kUnsupported} where the model cannot be differentiated.
int64_t each_slope(const Model& model, const std::vector<std::string>& weights, const Means& means,
                   const std::function<void(size_t weight, const Tensor& gradient)>& see);

/// What the loss of samples says of each element of a weight's matrix, w, by its gradient g.
struct Slopes {
  Matrix products;  ///< the mean of |w g|
  Matrix squares;   ///< the mean of (w g)^2
};
std::vector<Slopes> slopes_of(const Model& model, std::span<const Weight> weights, const Means& means);

}  // namespace mlopt::prune
