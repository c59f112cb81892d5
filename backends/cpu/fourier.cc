// DFT and STFT of float32, of lengths without large prime factors.
#include <algorithm>
#include <memory>

#include "backends/cpu/fourier_kernel.h"
#include "backends/cpu/kernels.h"
#include "core/base/parallel.h"
#include "core/ir/middle.h"

namespace mlopt::cpu {
namespace {

constexpr int64_t kLongest = int64_t{1} << 16;  // of which a block of signals still lies in the second cache

Expected<PlannedStep> planned(FourierPlan plan, Dims dims, int window) {
  if (plan.how.length > kLongest) return Decline{"its length"};
  if (!factorize(plan)) return Decline{"its length has a large prime factor"};
  PlannedStep step{.out = {TensorDesc{DType::kF32, std::move(dims)}}};
  step.run = [plan = std::make_shared<const FourierPlan>(std::move(plan)), window](const Buffers& b) {
    constexpr int64_t kBlock = 16;  // no vector has more lanes
    const int64_t blocks = (plan->signals + kBlock - 1) / kBlock;
    const float* factors = window < 0 ? nullptr : b.in<float>(window);
    parallel_for(blocks, std::max<int64_t>(1, 1024 / plan->how.length), [&](int64_t begin, int64_t end) {
      transform(*plan, b.in<float>(0), factors, b.out<float>(0), begin * kBlock, std::min(end * kBlock, plan->signals));
    });
  };
  return step;
}

Expected<PlannedStep> plan_dft(const Site& site) {
  const TensorDesc& x = site.desc(0);
  if (x.dtype != DType::kF32) return Decline{"not float32"};
  const auto how = fourier_of(site.view, x.dims);
  if (!how) return how.error();
  Dims dims = x.dims;
  dims[how->axis] = how->out_count;
  dims.back() = how->out_parts;
  const Middle m = around(x.dims, how->axis, how->axis + 1);
  FourierPlan plan{.how = *how, .inner = std::max<int64_t>(1, m.inner / how->in_parts)};
  plan.signals = m.outer * plan.inner;
  const auto places = [&](int64_t count, int64_t parts) {
    return SignalPlaces{count * plan.inner * parts, parts, plan.inner * parts};
  };
  plan.in = places(how->in_count, how->in_parts);
  plan.out = places(how->out_count, how->out_parts);
  return planned(std::move(plan), std::move(dims), -1);
}

/// A signal [batch, samples, parts or nothing], of which frames are transformed that begin `step` samples apart.
Expected<PlannedStep> plan_stft(const Site& site) {
  const TensorDesc& x = site.desc(0);
  if (x.dtype != DType::kF32) return Decline{"not float32"};
  if (x.dims.size() < 2 || x.dims.size() > 3) return Decline{"no signal"};
  const int64_t parts = x.dims.size() == 2 ? 1 : x.dims[2], samples = x.dims[1];
  const bool windowed = site.has(2), onesided = site.view.get_int("onesided", 1) != 0;
  const auto step = site.view.ints("", 1), given = site.view.ints("", 3, {windowed ? site.desc(2).size() : samples});
  if (!step || !given || step->size() != 1 || given->size() != 1) return Decline{"its frames are not constant"};
  const int64_t length = given->front(), every = step->front();
  if (parts < 1 || parts > 2 || (onesided && parts == 2)) return Decline{"the parts of its numbers"};
  if (every < 1 || length < 1 || length > samples) return Decline{"no frame"};
  if (windowed && (site.desc(2).dtype != DType::kF32 || site.desc(2).dims != Dims{length}))
    return Decline{"its window is not as long as a frame"};
  const int64_t frames = (samples - length) / every + 1, count = onesided ? length / 2 + 1 : length;
  FourierPlan plan{.how = {.length = length, .in_count = length, .out_count = count, .in_parts = parts},
                   .signals = x.dims[0] * frames,
                   .inner = frames,
                   .in = {samples * parts, every * parts, parts},
                   .out = {frames * count * 2, count * 2, 2}};
  return planned(std::move(plan), {x.dims[0], frames, count, 2}, windowed ? 2 : -1);
}

constexpr Kernel kKernels[] = {
    {.domain = "", .op = "DFT", .plan = plan_dft},
    {.domain = "", .op = "STFT", .plan = plan_stft},
};

}  // namespace

std::span<const Kernel> fourier_kernels() { return kKernels; }

}  // namespace mlopt::cpu
