#include "core/calib/hessian.h"
#include "quantize/methods/descend.h"
#include "quantize/methods/row_parts.h"

namespace mlopt::quantize {
namespace {

using Floats = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Rows that read the same inputs.
class Descent {
 public:
  Descent(const Task& task, int64_t group, Coded& coded) : task_(task), group_(group), coded_(coded) {
    hessian_ = damped_hessian(*task.seen, group, task.values.columns).cast<float>();
  }

  void run() {
    each_rows(task_, group_, [&](int64_t first, int64_t count) { improve(first, count); });
  }

 private:
  void improve(int64_t first, int64_t count) {
    const int64_t columns = task_.values.columns;
    Floats off(count, columns);
    for (int64_t r = 0; r < count; ++r)
      for (int64_t c = 0; c < columns; ++c) off(r, c) = task_.values.at(first + r, c) - value_at(first + r, c);
    Floats pull = off * hessian_;
    descend(pull, hessian_, [&](int64_t r, int64_t c, float wanted) { return settle(first + r, c, wanted); });
  }

  float value_at(int64_t row, int64_t column) const {
    const uint8_t code = coded_.codes[static_cast<size_t>(row * coded_.columns + column)];
    return coded_.alphabet(coded_.alphabet_at(row, column)).value(code);
  }

  /// Gives the number the code of what is best when all others stay; how far its value moved.
  float settle(int64_t row, int64_t column, float wanted) {
    if (task_.pruned(row, column)) return 0;
    const Alphabet alphabet = coded_.alphabet(coded_.alphabet_at(row, column));
    uint8_t& code = coded_.codes[static_cast<size_t>(row * coded_.columns + column)];
    const float old = alphabet.value(code);
    const uint8_t better = alphabet.nearest(old + wanted);
    if (better == code) return 0;
    code = better;
    return alphabet.value(better) - old;
  }

  const Task& task_;
  int64_t group_;
  Coded& coded_;
  Floats hessian_;
};

}  // namespace

Coded quantease(const Task& task, Fit fit) {
  Coded coded = gptq(task, fit);
  for (int64_t group = 0; group < task.groups; ++group) Descent(task, group, coded).run();
  return coded;
}

}  // namespace mlopt::quantize
