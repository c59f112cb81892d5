#pragma once
#include <Eigen/Core>
#include <span>

#include "core/calib/observe.h"

namespace mlopt {

using Dense = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// The Hessian of the squared error of a group's outputs, the products of its inputs, with a hundredth of its mean
/// diagonal added to the diagonal, so that it has an inverse; its columns in that order, or as they are.
Dense damped_hessian(const Observed& observed, int64_t group, int64_t columns, std::span<const int64_t> order = {});

/// What damped_hessian() adds to the diagonal.
double damping(const Observed& observed, int64_t group, int64_t columns);

/// The upper triangular U of which U^T U is the inverse of H, in the memory of H.
Dense inverse_factor(Dense hessian);

}  // namespace mlopt
