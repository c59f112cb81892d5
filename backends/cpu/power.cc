// Pow of float32 by a constant that is neither 2 nor 3: exp(e log x) in double, whose rounding float32 does not see.
#include <algorithm>
#include <cmath>
#include <limits>

#include "backends/cpu/kernels.h"
#include "backends/cpu/targets.h"
#include "core/base/parallel.h"
#include "core/tensor/cast.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/power.cc"
#include <hwy/foreach_target.h>

#include "backends/cpu/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mlopt::cpu::HWY_NAMESPACE {
namespace {

/// x^e of n positive numbers, a multiple of the most lanes.
void Raise(double e, const float* in, float* out, int64_t n) {
  const hn::ScalableTag<double> d;
  const hn::Rebind<float, hn::ScalableTag<double>> narrow;
  constexpr double kFar = 250;  // e^250 is more than float32 holds, e^-250 less
  for (int64_t i = 0; i < n; i += static_cast<int64_t>(hn::Lanes(d))) {
    const auto power = hn::Mul(hn::Set(d, e), hn::Log(d, hn::PromoteTo(d, hn::LoadU(narrow, in + i))));
    const auto within = hn::Min(hn::Max(power, hn::Set(d, -kFar)), hn::Set(d, kFar));
    hn::StoreU(hn::DemoteTo(narrow, hn::Exp(d, within)), narrow, out + i);
  }
}

}  // namespace
}  // namespace mlopt::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mlopt::cpu {
namespace {

HWY_EXPORT(Raise);

constexpr int64_t kBlock = 64;  // elements that are all positive or not

void run_block(double e, const float* in, float* out, int64_t count) {
  constexpr float kMost = std::numeric_limits<float>::max();
  const bool positive = std::all_of(in, in + count, [](float x) { return x > 0 && x <= kMost; });
  if (positive && count == kBlock) return HWY_DYNAMIC_DISPATCH(Raise)(e, in, out, count);
  for (int64_t i = 0; i < count; ++i) out[i] = static_cast<float>(std::pow(static_cast<double>(in[i]), e));
}

Expected<PlannedStep> plan(const Site& site) {
  const TensorDesc& x = site.desc(0);
  const Tensor* exponent = site.view.constant(1);
  if (x.dtype != DType::kF32) return Decline{"not float32"};
  if (!exponent || exponent->size() != 1 || exponent->rank() > std::ssize(x.dims) ||
      exponent->dtype() == DType::kString)
    return Decline{"not a constant exponent"};
  const double e = number_at(*exponent, 0);
  if (!std::isfinite(e)) return Decline{"an exponent that is no number"};
  PlannedStep step{.out = {x}};
  step.in_place = 0;
  step.packed = {1};
  step.run = [e, count = x.size()](const Buffers& b) {
    constexpr int64_t kGrain = 4096;  // elements below which a second thread costs more than it brings
    parallel_for(count, kGrain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; i += kBlock)
        run_block(e, b.in<float>(0) + i, b.out<float>(0) + i, std::min(kBlock, end - i));
    });
  };
  return step;
}

constexpr Kernel kKernels[] = {{.domain = "", .op = "Pow", .plan = plan, .layout = LayoutRule::kFollows}};

}  // namespace

std::span<const Kernel> power_kernels() { return kKernels; }

}  // namespace mlopt::cpu
#endif  // HWY_ONCE
