// Softmax and LogSoftmax: exp(x - max) / sum, or x - max - log(sum).
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "backends/cpu/arithmetic.h"
#include "backends/cpu/kernels.h"
#include "backends/cpu/reduce.h"
#include "backends/cpu/targets.h"
#include "core/base/parallel.h"
#include "core/ir/softmax_axes.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/softmax.cc"
#include <hwy/foreach_target.h>

#include "backends/cpu/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mlopt::cpu::HWY_NAMESPACE {
namespace {

/// y[i] = exp(x[i] - shift[i]) of differences that are not above 0; sum[i] += y[i].
void ExpColumns(const float* x, const float* shift, float* y, float* sum, int64_t n) {
  const F d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const V e = exp_of_negative(hn::Sub(hn::LoadU(d, x + i), hn::LoadU(d, shift + i)));
    hn::StoreU(e, d, y + i);
    hn::StoreU(hn::Add(hn::LoadU(d, sum + i), e), d, sum + i);
  }
  for (; i < n; ++i) sum[i] += y[i] = std::exp(x[i] - shift[i]);
}

/// The largest of a row; NaN wins.
HWY_INLINE float largest(const float* x, int64_t n) {
  const F d;
  const V least = constant(-std::numeric_limits<float>::infinity());
  V most = least;
  each_vector(0, n, [&](int64_t i, size_t count) HWY_ATTR {
    const V v = load_n(x + i, count);
    most = larger(most, count == hn::Lanes(d) ? v : hn::IfThenElse(hn::FirstN(d, count), v, least));
  });
  if (!hn::AllFalse(d, hn::IsNaN(most))) return std::numeric_limits<float>::quiet_NaN();
  return hn::GetLane(hn::MaxOfLanes(d, most));
}

/// exp(x - max) / sum of each row of n numbers, so few that their sum is exact enough in float.
void SoftmaxRows(const float* x, float* y, int64_t rows, int64_t n) {
  for (int64_t row = 0; row < rows; ++row, x += n, y += n) {
    const V factor = constant(1 / exp_row(x, y, n, largest(x, n)));
    map(y, y, n, [=](V e) HWY_ATTR { return hn::Mul(e, factor); });
  }
}

}  // namespace
}  // namespace mlopt::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mlopt::cpu {
namespace {

HWY_EXPORT(ExpColumns);
HWY_EXPORT(SoftmaxRows);

constexpr int64_t kGrain = 4096;  // elements below which a second thread costs more than it brings

void softmax_row(const float* x, float* y, int64_t n, bool log) {
  const float most = fold_row(Fold::kMax, x, n);
  const float sum = exp_row(x, y, n, most);
  if (!log) return affine(y, y, n, 1 / sum, 0);
  affine(x, y, n, 1, -most);  // a difference of neighbours, where most + log(sum) would be rounded to most's last place
  affine(y, y, n, 1, -std::log(sum));
}

constexpr int64_t kFew = 4096;  // numbers whose sum is exact enough in float

/// [length, inner] along its first axis.
void softmax_columns(const float* x, float* y, int64_t length, int64_t inner, bool log) {
  std::vector<float> most(static_cast<size_t>(inner), identity(Fold::kMax)), sum(static_cast<size_t>(inner));
  for (int64_t i = 0; i < length; ++i) fold(Fold::kMax, most.data(), x + i * inner, inner);
  for (int64_t i = 0; i < length; ++i)
    HWY_DYNAMIC_DISPATCH(ExpColumns)(x + i * inner, most.data(), y + i * inner, sum.data(), inner);
  if (length > kFew) fold_middle(Fold::kSum, y, sum.data(), {1, length, inner});
  const Paired columns{{length, inner}, {{inner, 0}, {1, 1}}};
  if (!log) return run_arithmetic(Arithmetic::kDiv, columns, y, sum.data(), y);
  for (float& s : sum) s = std::log(s);
  run_arithmetic(Arithmetic::kSub, columns, x, most.data(), y);
  run_arithmetic(Arithmetic::kSub, columns, y, sum.data(), y);
}

/// Rows that take longer one by one than to turn into columns, many at a time.
constexpr int64_t kShort = 16;

void softmax_short_rows(const float* x, float* y, int64_t rows, int64_t n, bool log) {
  constexpr int64_t kRows = 256;
  float in[kShort * kRows], out[kShort * kRows];
  for (int64_t first = 0; first < rows; first += kRows) {
    const int64_t count = std::min(kRows, rows - first);
    for (int64_t r = 0; r < count; ++r)
      for (int64_t k = 0; k < n; ++k) in[k * count + r] = x[(first + r) * n + k];
    softmax_columns(in, out, n, count, log);
    for (int64_t r = 0; r < count; ++r)
      for (int64_t k = 0; k < n; ++k) y[(first + r) * n + k] = out[k * count + r];
  }
}

Expected<PlannedStep> plan(const Site& site) {
  const TensorDesc& x = site.desc(0);
  if (x.dtype != DType::kF32 || x.dims.empty()) return Decline{"not a float32 array"};
  const bool log = site.view.node().op == "LogSoftmax";
  const Middle m = softmax_axes(site.view, x.dims);
  PlannedStep step{.out = {x}};
  if (!log) step.in_place = 0;  // logarithms read x again
  step.run = [m, log](const Buffers& b) {
    const int64_t block = m.length * m.inner;
    parallel_for(m.outer, std::max<int64_t>(1, kGrain / block), [&](int64_t begin, int64_t end) {
      if (m.inner == 1 && m.length <= kShort && m.outer > 1)
        return softmax_short_rows(b.in<float>(0) + begin * block, b.out<float>(0) + begin * block, end - begin, block,
                                  log);
      if (m.inner == 1 && m.length <= kFew && !log)
        return HWY_DYNAMIC_DISPATCH(SoftmaxRows)(b.in<float>(0) + begin * block, b.out<float>(0) + begin * block,
                                                 end - begin, block);
      for (int64_t i = begin; i < end; ++i) {
        const float* in = b.in<float>(0) + i * block;
        float* out = b.out<float>(0) + i * block;
        if (m.inner == 1)
          softmax_row(in, out, m.length, log);
        else
          softmax_columns(in, out, m.length, m.inner, log);
      }
    });
  };
  return step;
}

constexpr Kernel kKernels[] = {
    {.domain = "", .op = "Softmax", .plan = plan},
    {.domain = "", .op = "LogSoftmax", .plan = plan},
};

}  // namespace

std::span<const Kernel> softmax_kernels() { return kKernels; }

}  // namespace mlopt::cpu
#endif  // HWY_ONCE
