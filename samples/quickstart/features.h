#pragma once
#include <Eigen/Core>

#include "core/exec/backend.h"
#include "core/tensor/tensor.h"
#include "samples/quickstart/pictures.h"

namespace mlopt::quickstart {

using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// What the network takes is (pixel - kMean) / kDeviation.
constexpr float kMean = 128, kDeviation = 64;

/// The pictures [begin, end) as float32 [n, 1, kSide, kSide].
Tensor network_input(const Pictures& pictures, int64_t begin, int64_t end);

/// The only output of the model for all pictures: float32, the pictures along the first axis.
Tensor run_network(Backend& backend, const Model& model, const Pictures& pictures);

}  // namespace mlopt::quickstart
