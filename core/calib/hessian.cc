#include "core/calib/hessian.h"

#include <Eigen/Cholesky>

#include "core/base/error.h"

namespace mlopt {
namespace {

constexpr double kDamping = 0.01;

}  // namespace

double damping(const Observed& observed, int64_t group, int64_t columns) {
  double sum = 0;
  for (int64_t c = 0; c < columns; ++c)
    sum += observed.products[static_cast<size_t>(group)][static_cast<size_t>(c * columns + c)];
  return sum > 0 ? kDamping * sum / static_cast<double>(columns) : 1;
}

Dense damped_hessian(const Observed& observed, int64_t group, int64_t columns) {
  using Products = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const Eigen::Map<const Products> products(observed.products[static_cast<size_t>(group)].data(), columns, columns);
  Dense hessian = products.cast<double>();
  hessian.diagonal().array() += damping(observed, group, columns);
  return hessian;
}

Dense inverse_factor(const Dense& hessian) {
  // With rows and columns in the opposite order H is L L^T, so H is V V^T with V upper triangular; U is V's inverse.
  const Eigen::LLT<Dense> factored(hessian.reverse());
  if (factored.info() != Eigen::Success) internal_error("a damped Hessian has no Cholesky factor");
  const Dense lower = factored.matrixL();
  const Dense upper = lower.reverse();
  return upper.triangularView<Eigen::Upper>().solve(Dense::Identity(hessian.rows(), hessian.cols()));
}

}  // namespace mlopt
