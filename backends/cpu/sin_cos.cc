// Sin and Cos of float32.
#include <algorithm>
#include <cmath>

#include "backends/cpu/kernels.h"
#include "backends/cpu/targets.h"
#include "core/base/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/sin_cos.cc"
#include <hwy/foreach_target.h>

#include "backends/cpu/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mlopt::cpu::HWY_NAMESPACE {
namespace {

/// Numbers within the range in which Highway's functions are exact to 3 units in the last place.
void Run(bool cosine, const float* in, float* out, int64_t n) {
  if (cosine) return map(in, out, n, [](V x) HWY_ATTR { return hn::Cos(F(), x); });
  map(in, out, n, [](V x) HWY_ATTR { return hn::Sin(F(), x); });
}

}  // namespace
}  // namespace mlopt::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mlopt::cpu {
namespace {

HWY_EXPORT(Run);

void run_block(bool cosine, const float* in, float* out, int64_t count) {
  constexpr float kFar = 30000;
  const bool near = std::all_of(in, in + count, [](float x) { return std::fabs(x) <= kFar; });
  if (near) return HWY_DYNAMIC_DISPATCH(Run)(cosine, in, out, count);
  for (int64_t i = 0; i < count; ++i) out[i] = cosine ? std::cos(in[i]) : std::sin(in[i]);
}

constexpr int64_t kGrain = 8192;  // elements below which a second thread costs more than it brings
constexpr int64_t kBlock = 256;   // elements that are all near or not

Expected<PlannedStep> plan(const Site& site) {
  const TensorDesc& x = site.desc(0);
  if (x.dtype != DType::kF32) return Decline{"not float32"};
  PlannedStep step{.out = {x}};
  step.in_place = 0;
  step.run = [cosine = site.view.node().op == "Cos", count = x.size()](const Buffers& b) {
    parallel_for(count, kGrain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; i += kBlock)
        run_block(cosine, b.in<float>(0) + i, b.out<float>(0) + i, std::min(kBlock, end - i));
    });
  };
  return step;
}

constexpr Kernel kKernels[] = {
    {.domain = "", .op = "Cos", .plan = plan, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "Sin", .plan = plan, .layout = LayoutRule::kFollows},
};

}  // namespace

std::span<const Kernel> sin_cos_kernels() { return kKernels; }

}  // namespace mlopt::cpu
#endif  // HWY_ONCE
