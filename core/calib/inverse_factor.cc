#include <Eigen/Cholesky>
#include <algorithm>

#include "core/base/error.h"
#include "core/base/gemm.h"
#include "core/calib/hessian.h"

namespace mlopt {
namespace {

constexpr int64_t kBlock = 256;  // columns that are worked on at once; all else is products of matrices
constexpr int64_t kTall = 512;   // rows of a product, of which what lies above the diagonal is for nothing

/// The lower triangle of a matrix, worked on in place, for its size may be that of a good part of the memory.
class Lower {
 public:
  explicit Lower(Dense& matrix) : matrix_(matrix), size_(matrix.rows()) {}

  /// H becomes the L of which L L^T is H (blocks of columns from the left, each told to all behind it).
  void factor() {
    for (int64_t first = 0; first < size_; first += kBlock) {
      const int64_t count = std::min(kBlock, size_ - first), next = first + count, rest = size_ - next;
      const Dense block = matrix_.block(first, first, count, count);
      const Eigen::LLT<Dense> factored(block);
      if (factored.info() != Eigen::Success) internal_error("a damped Hessian has no Cholesky factor");
      matrix_.block(first, first, count, count) = Dense(factored.matrixL());
      if (rest == 0) break;
      Dense panel = matrix_.block(next, first, rest, count);
      const Dense inverse = inverse_of_block(first, count);
      gemm<double>(rest, count, count, rows_of(panel.data(), count), transpose_of(inverse.data(), count),
                   at(next, first), size_);
      panel = -matrix_.block(next, first, rest, count);
      for (int64_t row = 0; row < rest; row += kTall) {
        const int64_t tall = std::min(kTall, rest - row);
        gemm<double>(tall, row + tall, count, rows_of(panel.data() + row * count, count), {at(next, first), 1, size_},
                     at(next + row, next), size_, true);
      }
    }
    matrix_.triangularView<Eigen::StrictlyUpper>().setZero();
  }

  /// L becomes its inverse (blocks of columns from the right: what is behind a block is inverted already).
  void invert() {
    for (int64_t first = (size_ - 1) / kBlock * kBlock; first >= 0; first -= kBlock) {
      const int64_t count = std::min(kBlock, size_ - first), next = first + count, rest = size_ - next;
      const Dense inverse = inverse_of_block(first, count);
      matrix_.block(first, first, count, count) = inverse;
      if (rest == 0) continue;
      const Dense negative = -inverse;
      Dense right(rest, count);
      gemm<double>(rest, count, count, {at(next, first), size_, 1}, rows_of(negative.data(), count), right.data(),
                   count);
      for (int64_t row = 0; row < rest; row += kTall) {
        const int64_t tall = std::min(kTall, rest - row);
        gemm<double>(tall, count, row + tall, {at(next + row, next), size_, 1}, rows_of(right.data(), count),
                     at(next + row, first), size_);
      }
    }
  }

 private:
  double* at(int64_t row, int64_t column) { return matrix_.data() + row * size_ + column; }

  Dense inverse_of_block(int64_t first, int64_t count) const {
    return matrix_.block(first, first, count, count)
        .triangularView<Eigen::Lower>()
        .solve(Dense::Identity(count, count));
  }

  Dense& matrix_;
  int64_t size_;
};

}  // namespace

Dense inverse_factor(Dense hessian) {
  // With rows and columns in the opposite order H is L L^T, so H is V V^T with V upper triangular, L in that order; U
  // is V's inverse.
  const auto turn = [&] { std::reverse(hessian.data(), hessian.data() + hessian.size()); };
  turn();
  Lower lower(hessian);
  lower.factor();
  lower.invert();
  turn();
  return hessian;
}

}  // namespace mlopt
