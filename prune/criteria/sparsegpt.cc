#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "core/base/gemm.h"
#include "core/base/parallel.h"
#include "core/calib/hessian.h"
#include "prune/criteria.h"
#include "prune/masks.h"

namespace mlopt::prune {
namespace {

constexpr int64_t kBlock = 128;  // columns whose mask is chosen at once
constexpr int64_t kGrain = 128;  // rows that are worth a thread

/// The rows of a group while its columns go, from the first to the last.
class Sweep {
 public:
  Sweep(const Evidence& evidence, int64_t group, double share)
      : weight_(*evidence.weight),
        granularity_(evidence.spec->granularity),
        share_(share),
        rows_(weight_.rows / weight_.groups),
        first_row_(group * rows_),
        factor_(inverse_factor(damped_hessian(*evidence.observed, group, weight_.columns))),
        left_(rows_, weight_.columns) {
    for (int64_t r = 0; r < rows_; ++r)
      for (int64_t c = 0; c < weight_.columns; ++c) left_(r, c) = evidence.values->at(first_row_ + r, c);
    dead_ = left_.array() == 0;
  }

  void run(Matrix& values) {
    int64_t block = kBlock;
    if (granularity_.pattern()) {
      const int64_t span = granularity_.of * weight_.kernel;
      block = (kBlock + span - 1) / span * span;
    }
    for (int64_t first = 0; first < weight_.columns; first += block)
      prune_block(first, std::min(block, weight_.columns - first));
    for (int64_t r = 0; r < rows_; ++r)
      for (int64_t c = 0; c < weight_.columns; ++c) values.at(first_row_ + r, c) = static_cast<float>(left_(r, c));
  }

 private:
  void prune_block(int64_t first, int64_t count) {
    Dense told(rows_, count);  // minus the errors
    const int64_t span = granularity_.pattern() ? granularity_.of * weight_.kernel : count;
    for (int64_t j = 0; j < count; ++j) {
      const int64_t column = first + j;
      if (j % span == 0) choose(column, span);
      parallel_for(rows_, kGrain, [&](int64_t begin, int64_t end) {
        for (int64_t r = begin; r < end; ++r) told(r, j) = -remove(r, column, j % span, count - j);
      });
    }
    const int64_t next = first + count, columns = weight_.columns;
    gemm<double>(rows_, columns - next, count, rows_of(told.data(), count),
                 rows_of(factor_.data() + first * columns + next, columns), left_.data() + next, columns, true);
  }

  /// Removes an element, if it goes, and tells those of the next `count` columns; gives what others are to be told.
  double remove(int64_t row, int64_t column, int64_t chosen, int64_t count) {
    if (!gone_(row, chosen)) return 0;
    const double error = left_(row, column) / factor_(column, column);
    if (error != 0) left_.row(row).segment(column, count) -= error * factor_.row(column).segment(column, count);
    left_(row, column) = 0;
    return error;
  }

  /// Which of the next columns go in which rows, by what they cost now.
  void choose(int64_t first, int64_t count) {
    Weight part;
    part.rows = rows_, part.columns = count, part.kernel = weight_.kernel;
    Matrix scores = Matrix::zeros(rows_, count);
    for (int64_t r = 0; r < rows_; ++r)
      for (int64_t c = 0; c < count; ++c) {
        const double cost = left_(r, first + c) / factor_(first + c, first + c);
        scores.at(r, c) = dead_(r, first + c) ? -1 : static_cast<float>(cost * cost);
      }
    const std::vector<bool> mask =
        granularity_.pattern() ? pattern_mask(part, scores, granularity_) : share_mask(scores.values);
    gone_.resize(rows_, count);
    for (int64_t r = 0; r < rows_; ++r)
      for (int64_t c = 0; c < count; ++c) gone_(r, c) = mask[static_cast<size_t>(r * count + c)] || dead_(r, first + c);
  }

  std::vector<bool> share_mask(const std::vector<float>& scores) const {
    std::vector<size_t> order(scores.size());
    std::iota(order.begin(), order.end(), size_t{0});
    const auto wanted = static_cast<std::ptrdiff_t>(std::llround(share_ * static_cast<double>(scores.size())));
    const auto less = [&](size_t a, size_t b) { return scores[a] != scores[b] ? scores[a] < scores[b] : a < b; };
    if (wanted < static_cast<std::ptrdiff_t>(order.size()))
      std::nth_element(order.begin(), order.begin() + wanted, order.end(), less);
    std::vector<bool> mask(scores.size());
    for (std::ptrdiff_t i = 0; i < wanted; ++i) mask[order[static_cast<size_t>(i)]] = true;
    return mask;
  }

  using Flags = Eigen::Array<bool, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const Weight& weight_;
  const Granularity& granularity_;
  double share_;
  int64_t rows_, first_row_;
  Dense factor_, left_;
  Flags dead_, gone_;  // gone_: of the columns that were chosen last
};

}  // namespace

Matrix sparsegpt(const Evidence& evidence, double share) {
  Matrix values = *evidence.values;
  for (int64_t group = 0; group < evidence.weight->groups; ++group) Sweep(evidence, group, share).run(values);
  return values;
}

}  // namespace mlopt::prune
