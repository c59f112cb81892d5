// Products with one column: rows of the left operand times that column, as they lie in memory.
#include <algorithm>

#include "backends/cpu/matmul.h"
#include "backends/cpu/row_dots.h"
#include "core/base/parallel.h"

namespace mlopt::cpu {

Expected<PlannedStep> plan_vector(const MatMul& s, const Product& p, const Site& site) {
  if (p.n() != 1 || s.swap_left || s.bias >= 0 || s.addend >= 0) return Decline{"not rows by one column"};
  if (site.desc(MatMul::kLeft).dtype != DType::kF32 || site.desc(MatMul::kRight).dtype != DType::kF32 || site.halves)
    return Decline{"not float32"};
  const int64_t k = p.k(), rows = k > 0 ? element_count(p.a) / k : 0;
  if (k == 0 || element_count(p.b) != k || element_count(p.result) != rows)
    return Decline{"several columns in a batch"};
  PlannedStep step{.out = {{DType::kF32, p.result}}};
  step.label = "rows";
  step.run = [k, rows, alpha = s.alpha, act = s.act](const Buffers& b) {
    constexpr int64_t kGrain = 16384;  // elements below which a second thread costs more than it brings
    parallel_for(rows, std::max<int64_t>(1, kGrain / k), [&](int64_t begin, int64_t end) {
      float* out = b.out<float>(0) + begin;
      dot_rows(b.in<float>(MatMul::kRight), {b.in<float>(MatMul::kLeft) + begin * k, k, end - begin, k}, alpha, out);
      apply_here(act, out, out, end - begin);
    });
  };
  return step;
}

}  // namespace mlopt::cpu
