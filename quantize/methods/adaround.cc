#include <Eigen/Core>
#include <algorithm>
#include <cmath>

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

/// Rows that read the same inputs.
class Rounding {
 public:
  Rounding(const Task& task, const Eigen::Map<const Products>& products, Coded& coded, int64_t first, int64_t count)
      : products_(products), coded_(coded), first_(first), count_(count), columns_(task.values.columns) {
    for (Floats* all : {&below_, &step_, &wanted_, &learned_}) all->setZero(count, columns_);
    for (int64_t r = 0; r < count; ++r)
      for (int64_t c = 0; c < columns_; ++c) place(r, c, task.values.at(first + r, c));
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
  uint8_t& code(int64_t r, int64_t c) { return coded_.codes[static_cast<size_t>((first_ + r) * columns_ + c)]; }

  /// A number between two values: the code is that of the lower from here on.
  void place(int64_t r, int64_t c, float x) {
    const Alphabet alphabet = coded_.alphabet(coded_.alphabet_at(first_ + r, c));
    int lower = code(r, c);
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

  /// The codes of what was learned, row by row where they err less than the nearest.
  void keep() {
    const Floats learned = (share_of(sigmoid()) > 0.5F).cast<float>(), plain = nearest(), error = errors(learned);
    for (int64_t r = 0; r < count_; ++r) {
      const Floats& best = error(r, 0) < nearest_(r, 0) ? learned : plain;
      for (int64_t c = 0; c < columns_; ++c) code(r, c) = static_cast<uint8_t>(code(r, c) + (best(r, c) > 0));
    }
  }

  const Eigen::Map<const Products>& products_;
  Coded& coded_;
  int64_t first_, count_, columns_;
  Floats below_, step_, wanted_, learned_, nearest_;
};

}  // namespace

Coded adaround(const Task& task, Fit fit) {
  Coded coded = round_to_nearest(task, fit);
  const int64_t columns = task.values.columns;
  for (int64_t group = 0; group < task.groups; ++group) {
    const Eigen::Map<const Products> products(task.seen->products[static_cast<size_t>(group)].data(), columns, columns);
    each_rows(task, group, [&](int64_t first, int64_t count) { Rounding(task, products, coded, first, count).run(); });
  }
  return coded;
}

}  // namespace mlopt::quantize
