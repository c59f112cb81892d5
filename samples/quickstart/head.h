#pragma once
#include <span>

#include "core/tensor/tensor.h"

namespace mlopt::quickstart {

/// scores = features * weights + bias.
struct Head {
  Tensor weights;  ///< float32 [features, 10]
  Tensor bias;     ///< float32 [10]
};
/// The head whose scores are nearest, in the least-squares sense with a ridge, to 1 for the label and 0 for the other
/// classes. `features` is float32 [n, features].
Head fit_head(const Tensor& features, std::span<const uint8_t> labels);

}  // namespace mlopt::quickstart
