#include "backends/cpu/kernels.h"
#include "core/base/parallel.h"

namespace mlopt::cpu {
namespace {

constexpr int64_t kGrain = 1 << 15;

Expected<PlannedStep> plan(const Site& site) {
  const TensorDesc& x = site.desc(0);
  if (x.dtype != DType::kF32) return Decline{"not float32"};
  TensorDesc out = x;
  out.dtype = DType::kBool;
  PlannedStep step{.out = {out}};
  step.run = [count = x.size()](const Buffers& b) {
    const float* in = b.in<float>(0);
    bool* nan = b.out<bool>(0);
    parallel_for(count, kGrain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) nan[i] = in[i] != in[i];
    });
  };
  return step;
}

constexpr Kernel kKernels[] = {{.domain = "", .op = "IsNaN", .plan = plan, .layout = LayoutRule::kFollows}};

}  // namespace

std::span<const Kernel> is_nan_kernels() { return kKernels; }

}  // namespace mlopt::cpu
