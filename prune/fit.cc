#include "prune/fit.h"

#include "core/calib/hessian.h"

namespace mlopt::prune {
namespace {

constexpr int kMostSteps = 100;
constexpr double kEnough = 1e-10;  // of the first squared residual, which the residual falls below

using Floats = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// A divided by B, 0 where B is.
Eigen::VectorXd ratio(const Eigen::VectorXd& a, const Eigen::VectorXd& b) {
  return (b.array() > 0).select(a.array() / b.array(), 0);
}

/// Conjugate gradients on all rows at once, each with steps of its own, in the elements that are not 0; preconditioned
/// by the diagonal (Hestenes and Stiefel 1952).
void fit_rows(const Dense& hessian, const Dense& goal, Dense& left) {
  const Dense alive = (left.array() != 0).cast<double>();
  const Eigen::ArrayXXd scale = hessian.diagonal().cwiseInverse().transpose().replicate(left.rows(), 1).array();
  Dense residual = (goal - left * hessian).cwiseProduct(alive);
  Dense better = (residual.array() * scale).matrix();
  Dense direction = better;
  Eigen::VectorXd energy = residual.cwiseProduct(better).rowwise().sum();
  const double first = energy.sum();
  for (int step = 0; step < kMostSteps && energy.sum() > kEnough * first; ++step) {
    const Dense image = (direction * hessian).cwiseProduct(alive);
    const Eigen::VectorXd length = ratio(energy, direction.cwiseProduct(image).rowwise().sum());
    left += length.asDiagonal() * direction;
    residual -= length.asDiagonal() * image;
    better = (residual.array() * scale).matrix();
    const Eigen::VectorXd next = residual.cwiseProduct(better).rowwise().sum();
    direction = better + ratio(next, energy).asDiagonal() * direction;
    energy = next;
  }
}

/// What turns wanted rows into the right side of the normal equations: the Hessian, or the products of what the
/// original was given with what the layer is given now.
Dense goal_products(const Observed& observed, const Dense& hessian, int64_t group) {
  if (observed.crossed.empty()) return hessian;
  const int64_t columns = hessian.cols();
  Dense products =
      Eigen::Map<const Floats>(observed.crossed[static_cast<size_t>(group)].data(), columns, columns).cast<double>();
  products.diagonal().array() += damping(observed, group, columns);
  return products;
}

}  // namespace

Matrix fitted(const Weight& weight, const Observed& observed, const Matrix& wanted, const Matrix& pruned) {
  Matrix result = pruned;
  const int64_t rows = weight.rows / weight.groups;
  for (int64_t group = 0; group < weight.groups; ++group) {
    const int64_t first = group * rows * weight.columns;
    const auto part = [&](const Matrix& m) {
      return Eigen::Map<const Floats>(m.values.data() + first, rows, weight.columns).cast<double>();
    };
    Dense left = part(pruned);
    const Dense hessian = damped_hessian(observed, group, weight.columns), rows_wanted = part(wanted);
    fit_rows(hessian, rows_wanted * goal_products(observed, hessian, group), left);
    Eigen::Map<Floats>(result.values.data() + first, rows, weight.columns) = left.cast<float>();
  }
  return result;
}

}  // namespace mlopt::prune
