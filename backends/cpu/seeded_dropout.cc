#include "backends/cpu/seeded_dropout.h"

#include <algorithm>
#include <bit>

#include "core/base/keep_mask.h"
#include "core/base/parallel.h"
#include "core/exec/sample_runs.h"

namespace mlopt::cpu {
namespace {

struct Dropout {
  SampleRuns runs;
  int64_t first_key = 0, node = 0;
  double ratio = 0;
};

/// Without a branch, which nobody could predict.
float kept_or_zero(bool kept, float x) {
  return std::bit_cast<float>(std::bit_cast<uint32_t>(x) & (0U - static_cast<uint32_t>(kept)));
}

/// The elements [begin, end) of the tensor, run by run.
void drop(const Dropout& d, const int64_t* keys, const float* x, float* y, int64_t begin, int64_t end) {
  const auto scale = static_cast<float>(1 / (1 - d.ratio));
  while (begin < end) {
    const int64_t run = begin / d.runs.length, stop = std::min(end, (run + 1) * d.runs.length);
    const KeepMask mask(keys[d.first_key + run % d.runs.samples], d.node, d.ratio);
    // Of the sample's own elements: those of earlier outer indices come first.
    const int64_t shift = run / d.runs.samples * d.runs.length - run * d.runs.length;
    for (; begin < stop; ++begin) y[begin] = kept_or_zero(mask[begin + shift], x[begin] * scale);
  }
}

Expected<PlannedStep> plan(const Site& site) {
  const TensorDesc &x = site.desc(0), &keys = site.desc(1);
  if (x.dtype != DType::kF32 || keys.dtype != DType::kI64 || keys.size() == 0) return Decline{"not float32 and keys"};
  const int64_t axis = site.view.get_int("axis", 0);
  const auto runs = sample_runs(x.dims, axis, keys.size() - 1);
  if (!runs) return Decline{"the axis has no equal parts for the samples"};
  const Dropout dropout{*runs, axis < 0 ? keys.size() - 1 : 0, site.view.get_int("node", 0),
                        static_cast<double>(site.view.get_float("ratio", 0))};
  PlannedStep step{.out = {x}};
  step.in_place = 0;
  step.run = [dropout, count = x.size()](const Buffers& buffers) {
    constexpr int64_t kGrain = 16384;
    parallel_for(count, kGrain, [&](int64_t begin, int64_t end) {
      drop(dropout, buffers.in<int64_t>(1), buffers.in<float>(0), buffers.out<float>(0), begin, end);
    });
  };
  return step;
}

Expected<PlannedStep> plan_numbers(const Site& site, double (*number_at)(uint64_t key, int64_t position)) {
  const TensorDesc &x = site.desc(0), &keys = site.desc(1);
  if (x.dtype != DType::kF32 || keys.dtype != DType::kI64 || keys.size() == 0) return Decline{"not float32 and keys"};
  PlannedStep step{.out = {x}};
  step.run = [node = site.view.get_int("node", 0), last = keys.size() - 1, count = x.size(),
              number_at](const Buffers& buffers) {
    constexpr int64_t kGrain = 4096;
    const uint64_t key = seed_of({static_cast<uint64_t>(buffers.in<int64_t>(1)[last]), static_cast<uint64_t>(node)});
    parallel_for(count, kGrain, [&](int64_t begin, int64_t end) {
      auto* y = buffers.out<float>(0);
      for (int64_t i = begin; i < end; ++i) y[i] = static_cast<float>(number_at(key, i));
    });
  };
  return step;
}

Expected<PlannedStep> plan_uniform(const Site& site) { return plan_numbers(site, seeded_uniform_at); }
Expected<PlannedStep> plan_normal(const Site& site) { return plan_numbers(site, seeded_normal_at); }

constexpr Kernel kKernels[] = {{.domain = "mlopt", .op = "SeededDropout", .plan = plan},
                               {.domain = "mlopt", .op = "SeededNormal", .plan = plan_normal},
                               {.domain = "mlopt", .op = "SeededUniform", .plan = plan_uniform}};

}  // namespace

std::span<const Kernel> seeded_dropout_kernels() { return kKernels; }

}  // namespace mlopt::cpu
