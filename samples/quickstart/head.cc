#include "samples/quickstart/head.h"

#include <Eigen/Cholesky>
#include <algorithm>

#include "samples/quickstart/features.h"

namespace mlopt::quickstart {
namespace {

constexpr int64_t kClasses = 10;
constexpr float kRidge = 0.02F;  ///< of the mean variance of a feature

Tensor to_tensor(const Matrix& matrix, Dims dims) {
  Tensor tensor(DType::kF32, std::move(dims));
  std::copy_n(matrix.data(), matrix.size(), tensor.mutable_data<float>());
  return tensor;
}

}  // namespace

Head fit_head(const Tensor& features, std::span<const uint8_t> labels) {
  const int64_t count = features.dim(0), width = features.dim(1);
  const Eigen::Map<const Matrix> all(features.data<float>(), count, width);
  const Eigen::RowVectorXf mean = all.colwise().mean();
  const Matrix centred = all.rowwise() - mean;
  Matrix targets = Matrix::Zero(count, kClasses);
  for (int64_t i = 0; i < count; ++i) targets(i, labels[static_cast<size_t>(i)]) = 1;
  const Eigen::RowVectorXf share = targets.colwise().mean();
  targets.rowwise() -= share;

  Eigen::MatrixXf gram = Eigen::MatrixXf::Zero(width, width);
  gram.selfadjointView<Eigen::Lower>().rankUpdate(centred.transpose());
  gram.diagonal().array() += kRidge * gram.trace() / static_cast<float>(width);
  const Eigen::LLT<Eigen::MatrixXf, Eigen::Lower> solver(gram);
  const Matrix weights = solver.solve(Eigen::MatrixXf(centred.transpose() * targets));
  const Matrix bias = share - mean * weights;
  return {to_tensor(weights, {width, kClasses}), to_tensor(bias, {kClasses})};
}

}  // namespace mlopt::quickstart
