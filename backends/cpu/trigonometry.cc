// Sin, Cos and the inverse functions of float32.
#include <algorithm>
#include <cmath>

#include "backends/cpu/kernels.h"
#include "backends/cpu/targets.h"
#include "core/base/parallel.h"

#ifndef MLOPT_BACKENDS_CPU_ANGLE
#define MLOPT_BACKENDS_CPU_ANGLE
namespace mlopt::cpu {
enum class Angle { kSin, kCos, kAsin, kAcos, kAtan };
}
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/trigonometry.cc"
#include <hwy/foreach_target.h>

#include "backends/cpu/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mlopt::cpu::HWY_NAMESPACE {
namespace {

/// Highway's functions, exact to 3 units in the last place; sines and cosines of numbers up to 30000 only.
void Run(Angle fn, const float* in, float* out, int64_t n) {
  switch (fn) {
    case Angle::kSin:
      return map(in, out, n, [](V x) HWY_ATTR { return hn::Sin(F(), x); });
    case Angle::kCos:
      return map(in, out, n, [](V x) HWY_ATTR { return hn::Cos(F(), x); });
    case Angle::kAsin:
      return map(in, out, n, [](V x) HWY_ATTR { return hn::Asin(F(), x); });
    case Angle::kAcos:
      return map(in, out, n, [](V x) HWY_ATTR { return hn::Acos(F(), x); });
    case Angle::kAtan:
      return map(in, out, n, [](V x) HWY_ATTR { return hn::Atan(F(), x); });
  }
}

}  // namespace
}  // namespace mlopt::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mlopt::cpu {
namespace {

HWY_EXPORT(Run);

void run_block(Angle fn, const float* in, float* out, int64_t count) {
  constexpr float kFar = 30000;
  const bool inverse = fn != Angle::kSin && fn != Angle::kCos;
  if (inverse || std::all_of(in, in + count, [](float x) { return std::fabs(x) <= kFar; }))
    return HWY_DYNAMIC_DISPATCH(Run)(fn, in, out, count);
  for (int64_t i = 0; i < count; ++i) out[i] = fn == Angle::kCos ? std::cos(in[i]) : std::sin(in[i]);
}

constexpr int64_t kGrain = 8192;  // elements below which a second thread costs more than it brings
constexpr int64_t kBlock = 256;   // elements that are all near or not

template <Angle fn>
Expected<PlannedStep> plan(const Site& site) {
  const TensorDesc& x = site.desc(0);
  if (x.dtype != DType::kF32) return Decline{"not float32"};
  PlannedStep step{.out = {x}};
  step.in_place = 0;
  step.run = [count = x.size()](const Buffers& b) {
    parallel_for(count, kGrain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; i += kBlock)
        run_block(fn, b.in<float>(0) + i, b.out<float>(0) + i, std::min(kBlock, end - i));
    });
  };
  return step;
}

constexpr Kernel kKernels[] = {
    {.domain = "", .op = "Acos", .plan = plan<Angle::kAcos>, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "Asin", .plan = plan<Angle::kAsin>, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "Atan", .plan = plan<Angle::kAtan>, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "Cos", .plan = plan<Angle::kCos>, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "Sin", .plan = plan<Angle::kSin>, .layout = LayoutRule::kFollows},
};

}  // namespace

std::span<const Kernel> trigonometry_kernels() { return kKernels; }

}  // namespace mlopt::cpu
#endif  // HWY_ONCE
