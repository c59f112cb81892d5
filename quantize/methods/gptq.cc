#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "core/calib/hessian.h"
#include "quantize/methods/row_parts.h"

namespace mlopt::quantize {
namespace {

using Floats = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr int64_t kBlock = 128;  // columns that are rounded before those behind are told

/// Columns in the order in which they are rounded: those whose errors cost most first, when all others can still make
/// up for them.
std::vector<int64_t> order_of(const Dense& hessian) {
  std::vector<int64_t> order(static_cast<size_t>(hessian.cols()));
  std::iota(order.begin(), order.end(), int64_t{0});
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return hessian(a, a) > hessian(b, b); });
  return order;
}

Dense permuted(const Dense& matrix, const std::vector<int64_t>& order) {
  Dense out(matrix.rows(), matrix.cols());
  for (int64_t i = 0; i < matrix.rows(); ++i)
    for (int64_t j = 0; j < matrix.cols(); ++j)
      out(i, j) = matrix(order[static_cast<size_t>(i)], order[static_cast<size_t>(j)]);
  return out;
}

/// Rows that read the same inputs.
class Sweep {
 public:
  Sweep(const Task& task, int64_t group, Coded& coded) : task_(task), group_(group), coded_(coded) {
    const Dense hessian = damped_hessian(*task.seen, group, task.values.columns);
    order_ = order_of(hessian);
    factor_ = inverse_factor(permuted(hessian, order_)).cast<float>();
  }

  void run() {
    each_rows(task_, group_, [&](int64_t first, int64_t count) { round_rows(first, count); });
  }

 private:
  void round_rows(int64_t first, int64_t count) {
    const int64_t columns = task_.values.columns;
    Floats left(count, columns);
    for (int64_t r = 0; r < count; ++r)
      for (int64_t c = 0; c < columns; ++c) left(r, c) = task_.values.at(first + r, order_[static_cast<size_t>(c)]);
    for (int64_t block = 0; block < columns; block += kBlock) {
      const int64_t width = std::min(kBlock, columns - block), behind = columns - block - width;
      Floats errors(count, width);
      for (int64_t r = 0; r < count; ++r)
        for (int64_t j = 0; j < width; ++j) errors(r, j) = round_one(first + r, left.row(r), block + j, block + width);
      if (behind > 0)
        left.rightCols(behind).noalias() -= errors * factor_.block(block, columns - behind, width, behind);
    }
  }

  /// Rounds number `column` of a row, tells those up to `end`, and gives what the others are to be told.
  template <class Row>
  float round_one(int64_t row, Row left, int64_t column, int64_t end) {
    const int64_t at = order_[static_cast<size_t>(column)];
    const Alphabet alphabet = coded_.alphabet(coded_.alphabet_at(row, at));
    const uint8_t code = alphabet.nearest(left(column));
    coded_.codes[static_cast<size_t>(row * coded_.columns + at)] = code;
    const float error = (left(column) - alphabet.value(code)) / factor_(column, column);
    if (!std::isfinite(error)) return 0;
    left.segment(column, end - column) -= error * factor_.row(column).segment(column, end - column);
    return error;
  }

  const Task& task_;
  int64_t group_;
  Coded& coded_;
  std::vector<int64_t> order_;
  Floats factor_;
};

}  // namespace

Coded gptq(const Task& task, Fit fit) {
  Coded coded = round_to_nearest(task, fit);
  for (int64_t group = 0; group < task.groups; ++group) Sweep(task, group, coded).run();
  return coded;
}

}  // namespace mlopt::quantize
