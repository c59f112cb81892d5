// Normalizations by channel: BatchNormalization with stored statistics, InstanceNormalization, GroupNormalization.
#include <algorithm>
#include <cmath>
#include <vector>

#include "backends/cpu/kernels.h"
#include "backends/cpu/planned.h"
#include "backends/cpu/rows.h"
#include "core/base/parallel.h"

namespace mlopt::cpu {
namespace {

constexpr int64_t kGrain = 8192;  // elements below which a second thread costs more than it brings

/// [N, C, spatial...] seen as planes.
struct Planes {
  int64_t images = 1, channels = 1, size = 1;
};

Expected<Planes> planes_of(const Call& call) {
  const Dims& dims = call.in(0).dims();
  for (int i = 0; i < call.input_count(); ++i)
    if (call.has(i) && call.in(i).dtype() != DType::kF32) return Decline{"not float32"};
  if (dims.size() < 2) return Decline{"no channels"};
  Planes p{dims[0], dims[1], 1};
  for (size_t k = 2; k < dims.size(); ++k) p.size *= dims[k];
  return p;
}

bool are_by_channel(const Call& call, int first, int64_t channels) {
  for (int i = first; i < call.input_count(); ++i)
    if (!call.has(i) || call.in(i).dims() != Dims{channels}) return false;
  return true;
}

void run_batch_norm(const Planes& p, float epsilon, Call& call) {
  const float *scale = call.in(1).data<float>(), *bias = call.in(2).data<float>();
  const float *mean = call.in(3).data<float>(), *variance = call.in(4).data<float>();
  const float* x = call.in(0).data<float>();
  float* y = call.make(0, DType::kF32, call.in(0).dims()).mutable_data<float>();
  parallel_for(p.images * p.channels, std::max<int64_t>(1, kGrain / p.size), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t c = i % p.channels;
      const float a = scale[c] / std::sqrt(variance[c] + epsilon);
      affine(x + i * p.size, y + i * p.size, p.size, a, bias[c] - mean[c] * a);
    }
  });
}

Expected<Step> compile_batch_norm(const NodeView& view, const CompileContext& context) {
  if (const auto no = wrong_type(view, 0, {DType::kF32})) return *no;
  if (view.get_int("training_mode", 0) != 0 || view.node().outputs().size() > 1) return Decline{"training"};
  if (view.get_int("spatial", 1) != 1) return Decline{"statistics for each element"};
  if (view.opset() < 7 && view.get_int("is_test", 0) == 0) return Decline{"training"};
  const float epsilon = view.get_float("epsilon", 1e-5f);
  return planned(view, context, [=](const Call& call) -> Expected<Step> {
    const auto p = planes_of(call);
    if (!p) return p.error();
    if (!are_by_channel(call, 1, p->channels)) return Decline{"statistics do not fit the channels"};
    return Step([=, p = *p](Call& c) { run_batch_norm(p, epsilon, c); });
  });
}

/// Each group of neighbouring channels of each image is normalized by its own statistics, then each channel scaled.
/// `scale` and `bias` are for each channel, or for each group when `by_group`.
void run_group_norm(const Planes& p, int64_t groups, bool by_group, float epsilon, Call& call) {
  const float *x = call.in(0).data<float>(), *scale = call.in(1).data<float>(), *bias = call.in(2).data<float>();
  float* y = call.make(0, DType::kF32, call.in(0).dims()).mutable_data<float>();
  const int64_t members = p.channels / groups, block = members * p.size;
  parallel_for(p.images * groups, std::max<int64_t>(1, kGrain / block), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const float* in = x + i * block;
      const float mean = fold_row(Fold::kSum, in, block) / static_cast<float>(block);
      const float variance = sum_deviation(in, block, mean) / static_cast<float>(block);
      const float factor = 1 / std::sqrt(variance + epsilon);
      for (int64_t c = 0; c < members; ++c) {
        const int64_t group = i % groups, at = by_group ? group : group * members + c;
        const float a = scale[at] * factor;
        affine(in + c * p.size, y + i * block + c * p.size, p.size, a, bias[at] - mean * a);
      }
    }
  });
}

Expected<Step> compile_group_norm(const NodeView& view, const CompileContext& context) {
  if (const auto no = wrong_type(view, 0, {DType::kF32})) return *no;
  if (view.get_int("stash_type", 1) != 1) return Decline{"not computed in float32"};
  const bool instance = view.node().op == "InstanceNormalization";
  const int64_t asked = instance ? 0 : view.get_int("num_groups");
  const bool by_group = !instance && view.opset() < 21;
  const float epsilon = view.get_float("epsilon", 1e-5f);
  return planned(view, context, [=](const Call& call) -> Expected<Step> {
    const auto p = planes_of(call);
    if (!p) return p.error();
    const int64_t groups = instance ? p->channels : asked;
    if (groups < 1 || p->channels % groups != 0) return Decline{"channels and groups do not fit"};
    if (!are_by_channel(call, 1, by_group ? groups : p->channels)) return Decline{"scale does not fit the channels"};
    return Step([=, p = *p](Call& c) { run_group_norm(p, groups, by_group, epsilon, c); });
  });
}

constexpr Kernel kKernels[] = {
    {.domain = "", .op = "BatchNormalization", .compile = compile_batch_norm},
    {.domain = "", .op = "InstanceNormalization", .compile = compile_group_norm},
    {.domain = "", .op = "GroupNormalization", .compile = compile_group_norm},
};

}  // namespace

std::span<const Kernel> normalization_kernels() { return kKernels; }

}  // namespace mlopt::cpu
