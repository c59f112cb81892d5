// LpNormalization: x divided by the sum of its magnitudes, or by the root of the sum of its squares, along one axis.
#include <algorithm>
#include <cmath>
#include <vector>

#include "backends/cpu/arithmetic.h"
#include "backends/cpu/kernels.h"
#include "backends/cpu/reduce.h"
#include "core/base/parallel.h"

namespace mlopt::cpu {
namespace {

constexpr int64_t kGrain = 4096;  // elements below which a second thread costs more than it brings

/// Sums that float32 holds with all of its digits, and their reciprocals.
bool is_safe(float sum) { return sum > 1e-30f && sum < 1e30f; }

float factor_of(Fold op, float sum) { return 1 / (op == Fold::kSumAbs ? sum : std::sqrt(sum)); }

/// Elements `stride` apart whose sum float32 does not hold.
void normalize_exactly(Fold op, const float* x, float* y, int64_t n, int64_t stride) {
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) {
    const double v = x[i * stride];
    sum += op == Fold::kSumAbs ? std::abs(v) : v * v;
  }
  const double norm = op == Fold::kSumAbs ? sum : std::sqrt(sum);
  for (int64_t i = 0; i < n; ++i) y[i * stride] = norm == 0 ? 0.0f : static_cast<float>(x[i * stride] / norm);
}

/// Of rows that take longer to hand to vector loops than to add up.
float sum_short(Fold op, const float* x, int64_t n) {
  float sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += op == Fold::kSumAbs ? std::abs(x[i]) : x[i] * x[i];
  return sum;
}

void normalize_row(Fold op, const float* x, float* y, int64_t n) {
  constexpr int64_t kShort = 16;
  const float sum = n <= kShort ? sum_short(op, x, n) : fold_row(op, x, n);
  if (!is_safe(sum)) return normalize_exactly(op, x, y, n, 1);
  const float factor = factor_of(op, sum);
  if (n > kShort) return affine(x, y, n, factor, 0);
  for (int64_t i = 0; i < n; ++i) y[i] = x[i] * factor;
}

/// [length, inner] along its first axis.
void normalize_columns(Fold op, const float* x, float* y, int64_t length, int64_t inner) {
  std::vector<float> factors(static_cast<size_t>(inner));
  fold_middle(op, x, factors.data(), {1, length, inner});
  if (!std::all_of(factors.begin(), factors.end(), is_safe)) {
    for (int64_t k = 0; k < inner; ++k) normalize_exactly(op, x + k, y + k, length, inner);
    return;
  }
  for (float& f : factors) f = factor_of(op, f);
  run_arithmetic(Arithmetic::kMul, {{length, inner}, {{inner, 0}, {1, 1}}}, x, factors.data(), y);
}

Expected<PlannedStep> plan(const Site& site) {
  const TensorDesc& x = site.desc(0);
  const int64_t p = site.view.get_int("p", 2);
  if (x.dtype != DType::kF32 || x.dims.empty() || x.size() == 0) return Decline{"not a float32 array"};
  if (p != 1 && p != 2) return Decline{"another norm"};
  const Fold op = p == 1 ? Fold::kSumAbs : Fold::kSumSquare;
  const auto rank = static_cast<int64_t>(x.dims.size());
  const auto at = static_cast<size_t>(normalize_axis(site.view.get_int("axis", -1), rank));
  const Middle m = around(x.dims, at, at + 1);
  PlannedStep step{.out = {x}};
  step.in_place = 0;
  step.run = [m, op](const Buffers& b) {
    const int64_t block = m.length * m.inner;
    parallel_for(m.outer, std::max<int64_t>(1, kGrain / block), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const float* in = b.in<float>(0) + i * block;
        float* out = b.out<float>(0) + i * block;
        if (m.inner == 1)
          normalize_row(op, in, out, m.length);
        else
          normalize_columns(op, in, out, m.length, m.inner);
      }
    });
  };
  return step;
}

constexpr Kernel kKernels[] = {{.domain = "", .op = "LpNormalization", .plan = plan}};

}  // namespace

std::span<const Kernel> lp_norm_kernels() { return kKernels; }

}  // namespace mlopt::cpu
