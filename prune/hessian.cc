#include "prune/hessian.h"

#include <Eigen/Cholesky>

#include "core/base/error.h"

namespace mlopt::prune {
namespace {

constexpr double kDamping = 0.01;

}  // namespace

Dense damped_hessian(const Observed& observed, int64_t group, int64_t columns) {
  using Products = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const Eigen::Map<const Products> products(observed.products[static_cast<size_t>(group)].data(), columns, columns);
  Dense hessian = products.cast<double>();
  const double mean = hessian.diagonal().mean();
  hessian.diagonal().array() += mean > 0 ? kDamping * mean : 1;
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

}  // namespace mlopt::prune
