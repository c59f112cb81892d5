#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "core/base/gemm.h"
#include "core/calib/hessian.h"
#include "quantize/methods/row_parts.h"

namespace mlopt::quantize {
namespace {

using Floats = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr int64_t kBlock = 128;  // columns that are rounded before those behind are told

/// Columns in the order in which they are rounded: those whose errors cost most first, when all others can still make
/// up for them.
std::vector<int64_t> order_of(const Observed& seen, int64_t group, int64_t columns) {
  const float* products = seen.products[static_cast<size_t>(group)].data();
  std::vector<int64_t> order(static_cast<size_t>(columns));
  std::iota(order.begin(), order.end(), int64_t{0});
  const auto cost = [&](int64_t c) { return products[c * columns + c]; };
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return cost(a) > cost(b); });
  return order;
}

/// Rows that read the same inputs.
class Sweep {
 public:
  Sweep(const Task& task, int64_t group, Coded& coded)
      : task_(task),
        group_(group),
        columns_(task.values.columns),
        coded_(coded),
        order_(order_of(*task.seen, group, columns_)),
        factor_(inverse_factor(damped_hessian(*task.seen, group, columns_, order_)).cast<float>()) {}

  void run() {
    const int64_t rows = task_.values.rows / task_.groups, first = group_ * rows;
    Floats left(rows, columns_), errors(rows, kBlock);
    each_rows(task_, group_, [&](int64_t begin, int64_t count) {
      for (int64_t r = begin; r < begin + count; ++r)
        for (int64_t c = 0; c < columns_; ++c) left(r - first, c) = task_.values.at(r, order_[static_cast<size_t>(c)]);
    });
    for (int64_t block = 0; block < columns_; block += kBlock) {
      const int64_t width = std::min(kBlock, columns_ - block), next = block + width;
      each_rows(task_, group_, [&](int64_t begin, int64_t count) {
        for (int64_t r = begin; r < begin + count; ++r)
          for (int64_t j = 0; j < width; ++j)
            errors(r - first, j) = -round_one(r, left.row(r - first), block + j, next);
      });
      gemm<float>(rows, columns_ - next, width, rows_of(errors.data(), kBlock),
                  rows_of(factor_.data() + block * columns_ + next, columns_), left.data() + next, columns_, true);
    }
  }

 private:
  /// Rounds number `column` of a row, tells those up to `end`, and gives what the others are to be told.
  template <class Row>
  float round_one(int64_t row, Row left, int64_t column, int64_t end) {
    const int64_t at = order_[static_cast<size_t>(column)];
    const Alphabet alphabet = coded_.alphabet(coded_.alphabet_at(row, at));
    const uint8_t code = alphabet.nearest(task_.pruned(row, at) ? 0 : left(column));
    coded_.codes[static_cast<size_t>(row * coded_.columns + at)] = code;
    const float error = (left(column) - alphabet.value(code)) / factor_(column, column);
    if (!std::isfinite(error)) return 0;
    left.segment(column, end - column) -= error * factor_.row(column).segment(column, end - column);
    return error;
  }

  const Task& task_;
  int64_t group_, columns_;
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
