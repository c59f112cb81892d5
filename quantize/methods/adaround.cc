#include <Eigen/Core>
#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <vector>

#include "core/calib/hessian.h"
#include "quantize/methods/descend.h"
#include "quantize/methods/row_parts.h"

namespace mlopt::quantize {
namespace {

using Floats = Eigen::Array<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Products = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// The paper's rectified sigmoid, penalty and Adam; all inputs are in each step, so that a tenth of its steps do.
constexpr int kSteps = 1000;
constexpr float kFree = 0.2F;                // the share of the steps without a penalty
constexpr float kLow = -0.1F, kHigh = 1.1F;  // what the sigmoid is stretched to before it is cut to [0, 1]
constexpr float kHardest = 2, kSoftest = 20;
constexpr float kRate = 0.02F, kMemory = 0.9F, kSquareMemory = 0.999F, kTiny = 1e-8F;

// Steps cost the square of the columns. Of more than kWide, kBlock are learned at a time.
constexpr int64_t kWide = 1024, kBlock = 256;

/// These columns of rows that read the same inputs.
class Rounding {
 public:
  /// `products` are those of the columns; `wanted` is what they are to come near, [count, columns].
  Rounding(const Task& task, const Eigen::Ref<const Products>& products, Coded& coded, int64_t first,
           std::span<const int64_t> columns, Products wanted)
      : task_(task),
        products_(products),
        coded_(coded),
        first_(first),
        count_(wanted.rows()),
        columns_(wanted.cols()),
        column_at_(columns),
        wanted_(wanted.array()) {
    for (Floats* all : {&below_, &step_, &learned_}) all->setZero(count_, columns_);
    for (int64_t r = 0; r < count_; ++r)
      for (int64_t c = 0; c < columns_; ++c) place(r, c);
    nearest_ = errors(nearest());
  }

  void run() {
    Floats mean = Floats::Zero(count_, columns_), square = mean;
    for (int i = 1; i <= kSteps; ++i) {
      const Floats slope = slopes(static_cast<float>(i) / kSteps);
      mean = kMemory * mean + (1 - kMemory) * slope;
      square = kSquareMemory * square + (1 - kSquareMemory) * slope.square();
      const auto n = static_cast<float>(i);
      learned_ -=
          kRate * (mean / (1 - std::pow(kMemory, n))) / ((square / (1 - std::pow(kSquareMemory, n))).sqrt() + kTiny);
    }
    keep();
  }

 private:
  uint8_t& code(int64_t r, int64_t c) {
    return coded_.codes[static_cast<size_t>((first_ + r) * coded_.columns + column_at_[static_cast<size_t>(c)])];
  }

  /// A number between two values: the code is that of the lower from here on. What was pruned has no other value.
  void place(int64_t r, int64_t c) {
    const int64_t column = column_at_[static_cast<size_t>(c)];
    const Alphabet alphabet = coded_.alphabet(coded_.alphabet_at(first_ + r, column));
    float x = wanted_(r, c);
    if (task_.pruned(first_ + r, column)) {
      code(r, c) = alphabet.nearest(0);
      below_(r, c) = alphabet.value(code(r, c));
      return;
    }
    int lower = alphabet.nearest(x);
    if (lower == alphabet.most || (lower > 0 && alphabet.value(static_cast<uint8_t>(lower)) > x)) --lower;
    code(r, c) = static_cast<uint8_t>(lower);
    below_(r, c) = alphabet.value(static_cast<uint8_t>(lower));
    step_(r, c) = alphabet.value(static_cast<uint8_t>(lower + 1)) - below_(r, c);
    if (!std::isfinite(x)) x = below_(r, c);
    wanted_(r, c) = x;
    constexpr float kEdge = 0.01F;
    const float share = std::clamp(step_(r, c) > 0 ? (x - below_(r, c)) / step_(r, c) : 0, kEdge, 1 - kEdge);
    learned_(r, c) = -std::log((kHigh - kLow) / (share - kLow) - 1);
  }

  Floats sigmoid() const { return 1 / (1 + (-learned_).exp()); }
  static Floats share_of(const Floats& sigmoid) { return (sigmoid * (kHigh - kLow) + kLow).max(0).min(1); }
  Floats nearest() const { return (wanted_ - below_ > step_ / 2).cast<float>(); }

  /// Of each row, the squared error of its outputs.
  Floats errors(const Floats& share) const {
    const Products off = below_ + share * step_ - wanted_;
    return (off * products_).cwiseProduct(off).rowwise().sum().array();
  }

  /// Of the error over that of rounding to nearest, and of the penalty, along what is learned.
  Floats slopes(float progress) const {
    const Floats s = sigmoid(), share = share_of(s);
    const Products off = below_ + share * step_ - wanted_;
    Floats slope = (off * products_).array() * step_ * 2;
    for (int64_t r = 0; r < count_; ++r) slope.row(r) /= std::max(nearest_(r, 0), kTiny);
    if (progress > kFree) {
      const float power = kHardest + (kSoftest - kHardest) * (1 - (progress - kFree) / (1 - kFree));
      const Floats side = 2 * share - 1;  // the penalty is 1 - |side|^power
      slope -= side.sign() * side.abs().pow(power - 1) * (2 * power / static_cast<float>(columns_));
    }
    const Floats inside = (share > 0 && share < 1).cast<float>();
    return slope * inside * s * (1 - s) * (kHigh - kLow);
  }

  /// The codes of what was learned, row by row where they err less than the nearest, and from there of what is best for
  /// each number while all others stay.
  void keep() {
    const Floats learned = (share_of(sigmoid()) > 0.5F).cast<float>(), error = errors(learned);
    Floats up = nearest();
    for (int64_t r = 0; r < count_; ++r)
      if (error(r, 0) < nearest_(r, 0)) up.row(r) = learned.row(r);
    const Products off = wanted_ - (below_ + up * step_);
    Products pull = off * products_;
    descend(pull, products_, [&](int64_t r, int64_t c, float wanted) {
      const float change = up(r, c) > 0 ? -step_(r, c) : step_(r, c);
      if (!(std::fabs(wanted - change) < std::fabs(wanted))) return 0.0F;
      up(r, c) = 1 - up(r, c);
      return change;
    });
    for (int64_t r = 0; r < count_; ++r)
      for (int64_t c = 0; c < columns_; ++c)
        code(r, c) = static_cast<uint8_t>(code(r, c) + (up(r, c) > 0 && step_(r, c) > 0));
  }

  const Task& task_;
  const Eigen::Ref<const Products>& products_;
  Coded& coded_;
  int64_t first_, count_, columns_;
  std::span<const int64_t> column_at_;
  Floats wanted_, below_, step_, learned_, nearest_;
};

/// Rows of a task, or what their codes stand for.
Products rows_of(const Task& task, int64_t first, int64_t count) {
  return Eigen::Map<const Products>(task.values.row(first).data(), count, task.values.columns);
}
Products rows_of(const Coded& coded, int64_t first, int64_t count) {
  Products rows(count, coded.columns);
  for (int64_t r = 0; r < count; ++r)
    for (int64_t c = 0; c < coded.columns; ++c)
      rows(r, c) = coded.alphabet(coded.alphabet_at(first + r, c))
                       .value(coded.codes[static_cast<size_t>((first + r) * coded.columns + c)]);
  return rows;
}

/// Many columns, a block at a time. Those behind make up for the error of a block as in gptq(), so that what a block
/// costs is its error in the products that are left when all others may follow: (U^T U)^-1 of its part of U.
class WideRounding {
 public:
  WideRounding(const Task& task, int64_t group, const Eigen::Map<const Products>& products, Coded& coded)
      : task_(task), products_(products), coded_(coded), columns_(task.values.columns) {
    factor_ = inverse_factor(damped_hessian(*task.seen, group, columns_));
    for (int64_t c = 0; c < columns_; ++c) order_.push_back(c);
    for (int64_t b = 0; b < columns_; b += kBlock) {
      const int64_t width = std::min(kBlock, columns_ - b);
      const Dense inverse =
          factor_.block(b, b, width, width).triangularView<Eigen::Upper>().solve(Dense::Identity(width, width));
      inverse_.push_back(inverse.cast<float>());
      left_.push_back((inverse * inverse.transpose()).cast<float>());
    }
    rest_ = factor_.cast<float>();
  }

  void run(int64_t first, int64_t count) const {
    const Products given = rows_of(task_, first, count);
    const Products wanted = given.array().isFinite().select(given, rows_of(coded_, first, count));
    const std::vector<uint8_t> nearest(coded_.codes.begin() + first * columns_,
                                       coded_.codes.begin() + (first + count) * columns_);
    const Products before = errors(wanted, first);
    Products open = wanted;
    for (int64_t b = 0, k = 0; b < columns_; b += kBlock, ++k) {
      const int64_t width = std::min(kBlock, columns_ - b), behind = columns_ - b - width;
      const auto at = static_cast<size_t>(k);
      Rounding(task_, left_[at], coded_, first,
               std::span(order_).subspan(static_cast<size_t>(b), static_cast<size_t>(width)), open.middleCols(b, width))
          .run();
      const Products off = (open - rows_of(coded_, first, count)).middleCols(b, width) * inverse_[at];
      if (behind > 0) open.rightCols(behind).noalias() -= off * rest_.block(b, columns_ - behind, width, behind);
    }
    const Products after = errors(wanted, first);
    for (int64_t r = 0; r < count; ++r)
      if (!(after(r, 0) < before(r, 0)))
        std::copy_n(nearest.begin() + r * columns_, columns_, coded_.codes.begin() + (first + r) * columns_);
  }

 private:
  Products errors(const Products& wanted, int64_t first) const {
    const Products off = rows_of(coded_, first, wanted.rows()) - wanted;
    return (off * products_).cwiseProduct(off).rowwise().sum();
  }

  const Task& task_;
  const Eigen::Map<const Products>& products_;
  Coded& coded_;
  int64_t columns_;
  Dense factor_;
  Products rest_;
  std::vector<int64_t> order_;
  std::vector<Products> inverse_, left_;  ///< of the blocks: U^-1, and U^-1 U^-T
};

}  // namespace

Coded adaround(const Task& task, Fit fit) {
  Coded coded = round_to_nearest(task, fit);
  const int64_t columns = task.values.columns;
  std::vector<int64_t> order(static_cast<size_t>(columns));
  std::iota(order.begin(), order.end(), int64_t{0});
  for (int64_t group = 0; group < task.groups; ++group) {
    const Eigen::Map<const Products> products(task.seen->products[static_cast<size_t>(group)].data(), columns, columns);
    if (columns > kWide) {
      const WideRounding wide(task, group, products, coded);
      each_rows(task, group, [&](int64_t first, int64_t count) { wide.run(first, count); });
      continue;
    }
    each_rows(task, group, [&](int64_t first, int64_t count) {
      Rounding(task, products, coded, first, order, rows_of(task, first, count)).run();
    });
  }
  return coded;
}

}  // namespace mlopt::quantize
