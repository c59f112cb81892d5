#include "samples/quickstart/filters.h"

#include <Eigen/Cholesky>
#include <algorithm>

#include "samples/quickstart/features.h"

namespace mlopt::quickstart {
namespace {

constexpr int64_t kPatches = 10000;
constexpr int kRounds = 8;
/// Of the norm of the covariance: directions with less variance than that are taken for noise.
constexpr float kNoise = 0.05F;

/// A row for each patch, from anywhere.
Matrix sample_patches(const Tensor& activations, int64_t size, Rng& rng) {
  const int64_t channels = activations.dim(1), height = activations.dim(2), width = activations.dim(3);
  const float* const data = activations.data<float>();
  Matrix patches(kPatches, channels * size * size);
  for (int64_t i = 0; i < kPatches; ++i) {
    const int64_t picture = rng.integer(0, activations.dim(0) - 1);
    const int64_t top = rng.integer(0, height - size), left = rng.integer(0, width - size);
    float* to = patches.row(i).data();
    for (int64_t c = 0; c < channels; ++c) {
      const float* const plane = data + (picture * channels + c) * height * width;
      for (int64_t y = top; y < top + size; ++y) to = std::copy_n(plane + y * width + left, size, to);
    }
  }
  return patches;
}

/// The centres, of length 1, of the directions of the rows.
Matrix cluster(const Matrix& rows, int64_t count, Rng& rng) {
  Matrix centres = rows.topRows(count);
  for (int round = 0; round < kRounds; ++round) {
    const Matrix likeness = rows * centres.transpose();
    Matrix sums = Matrix::Zero(count, rows.cols());
    for (Eigen::Index i = 0; i < rows.rows(); ++i) {
      Eigen::Index nearest = 0;
      const float weight = likeness.row(i).maxCoeff(&nearest);
      sums.row(nearest) += weight * rows.row(i);
    }
    for (Eigen::Index k = 0; k < count; ++k) {
      const bool empty = sums.row(k).squaredNorm() == 0;
      if (empty) sums.row(k) = rows.row(rng.integer(0, rows.rows() - 1));
      centres.row(k) = sums.row(k).normalized();
    }
  }
  return centres;
}

}  // namespace

Tensor learn_filters(const Tensor& activations, int64_t count, int64_t size, Rng& rng) {
  Matrix patches = sample_patches(activations, size, rng);
  const Eigen::RowVectorXf mean = patches.colwise().mean();
  patches.rowwise() -= mean;
  Eigen::MatrixXf covariance = patches.transpose() * patches / static_cast<float>(kPatches);
  covariance.diagonal().array() += kNoise * covariance.norm();
  // Any root of the inverse whitens, up to a rotation, which k-means does not see.
  const Eigen::LLT<Eigen::MatrixXf> root(covariance);
  Matrix white = root.matrixL().solve(patches.transpose()).transpose();
  white.rowwise().normalize();
  const Matrix filters = root.matrixU().solve(cluster(white, count, rng).transpose()).transpose();
  Tensor result(DType::kF32, {count, activations.dim(1), size, size});
  std::copy_n(filters.data(), filters.size(), result.mutable_data<float>());
  return result;
}

}  // namespace mlopt::quickstart
