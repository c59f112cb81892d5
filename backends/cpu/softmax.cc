// Softmax and LogSoftmax: exp(x - max) / sum, or x - max - log(sum).
#include <algorithm>
#include <cmath>
#include <vector>

#include "backends/cpu/arithmetic.h"
#include "backends/cpu/kernels.h"
#include "backends/cpu/planned.h"
#include "backends/cpu/reduce.h"
#include "backends/cpu/targets.h"
#include "core/base/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/softmax.cc"
#include <hwy/foreach_target.h>

#include "backends/cpu/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mlopt::cpu::HWY_NAMESPACE {
namespace {

/// y[i] = exp(x[i] - shift).
void ExpRow(const float* x, float* y, int64_t n, float shift) {
  map(x, y, n, [=](V v) HWY_ATTR { return exp(hn::Sub(v, constant(shift))); });
}

/// y[i] = exp(x[i] - shift[i]); sum[i] += y[i].
void ExpColumns(const float* x, const float* shift, float* y, float* sum, int64_t n) {
  const F d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const V e = exp(hn::Sub(hn::LoadU(d, x + i), hn::LoadU(d, shift + i)));
    hn::StoreU(e, d, y + i);
    hn::StoreU(hn::Add(hn::LoadU(d, sum + i), e), d, sum + i);
  }
  for (; i < n; ++i) sum[i] += y[i] = std::exp(x[i] - shift[i]);
}

}  // namespace
}  // namespace mlopt::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mlopt::cpu {
namespace {

HWY_EXPORT(ExpRow);
HWY_EXPORT(ExpColumns);

constexpr int64_t kGrain = 4096;  // elements below which a second thread costs more than it brings

void softmax_row(const float* x, float* y, int64_t n, bool log) {
  const float most = fold_row(Fold::kMax, x, n);
  HWY_DYNAMIC_DISPATCH(ExpRow)(x, y, n, most);
  const float sum = fold_row(Fold::kSum, y, n);
  if (!log) return affine(y, y, n, 1 / sum, 0);
  affine(x, y, n, 1, -most);  // a difference of neighbours, where most + log(sum) would be rounded to most's last place
  affine(y, y, n, 1, -std::log(sum));
}

/// [length, inner] along its first axis.
void softmax_columns(const float* x, float* y, int64_t length, int64_t inner, bool log) {
  std::vector<float> most(static_cast<size_t>(inner), identity(Fold::kMax)), sum(static_cast<size_t>(inner));
  for (int64_t i = 0; i < length; ++i) fold(Fold::kMax, most.data(), x + i * inner, inner);
  for (int64_t i = 0; i < length; ++i)
    HWY_DYNAMIC_DISPATCH(ExpColumns)(x + i * inner, most.data(), y + i * inner, sum.data(), inner);
  const Paired columns{{length, inner}, {{inner, 0}, {1, 1}}};
  if (!log) return run_arithmetic(Arithmetic::kDiv, columns, y, sum.data(), y);
  for (float& s : sum) s = std::log(s);
  run_arithmetic(Arithmetic::kSub, columns, x, most.data(), y);
  run_arithmetic(Arithmetic::kSub, columns, y, sum.data(), y);
}

Expected<Step> compile(const NodeView& view, const CompileContext& context) {
  if (const auto no = wrong_type(view, 0, {DType::kF32})) return *no;
  const bool log = view.node().op == "LogSoftmax", old = view.opset() < 13;  // before, all axes from `axis` on are one
  const int64_t axis = view.get_int("axis", old ? 1 : -1);
  return planned(view, context, [=](const Call& call) -> Expected<Step> {
    if (call.in(0).dtype() != DType::kF32 || call.in(0).rank() == 0) return Decline{"not a float32 array"};
    const Dims& dims = call.in(0).dims();
    const auto at = static_cast<size_t>(normalize_axis(axis, call.in(0).rank()));
    const Middle m = around(dims, at, old ? dims.size() : at + 1);
    return Step([=](Call& c) {
      const Tensor& x = c.in(0);
      const float* in = x.data<float>();
      float* out = c.make(0, DType::kF32, x.dims()).mutable_data<float>();
      const int64_t block = m.length * m.inner;
      parallel_for(m.outer, std::max<int64_t>(1, kGrain / block), [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          if (m.inner == 1)
            softmax_row(in + i * block, out + i * block, m.length, log);
          else
            softmax_columns(in + i * block, out + i * block, m.length, m.inner, log);
        }
      });
    });
  });
}

constexpr Kernel kKernels[] = {
    {.domain = "", .op = "Softmax", .compile = compile},
    {.domain = "", .op = "LogSoftmax", .compile = compile},
};

}  // namespace

std::span<const Kernel> softmax_kernels() { return kKernels; }

}  // namespace mlopt::cpu
#endif  // HWY_ONCE
