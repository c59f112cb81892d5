// Conv and com.microsoft.FusedConv in which each channel of the source is a group of its own.
#include <algorithm>

#include "backends/cpu/conv_site.h"
#include "backends/cpu/depthwise.h"
#include "backends/cpu/dnn.h"
#include "backends/cpu/kernels.h"
#include "core/exec/weight_cache.h"

namespace mlopt::cpu {
namespace {

/// With AVX-512 oneDNN's blocks of windows are faster where so many taps lie side by side that the kernel loads a pixel
/// once for each of them. It has none over one axis, or with gaps, or for several results of a channel.
bool primitive_is_faster(const ConvShape& s) {
  constexpr int64_t kFewTaps = 7;
  const bool dense =
      std::all_of(s.window.dilations.begin(), s.window.dilations.end(), [](int64_t d) { return d == 1; });
  return has_avx512() && dense && s.src.size() == 4 && s.src[1] == s.dst[1] && s.window.kernel[1] > kFewTaps;
}

Expected<PlannedStep> plan_depthwise(const Site& site) {
  const auto conv = constant_conv(site);
  if (!conv) return conv.error();
  const ConvShape& shape = conv->shape;
  if (!DepthwisePlan::takes(shape)) return Decline{"not depthwise, or too few channels"};
  const Tensor& w = *site.constant(ConvSite::kWeights);
  // Where others are row-major oneDNN is as fast, but over one axis it multiplies copies of the windows.
  if (shape.src.size() > 3 && !is_channels_last(site, *conv)) return Decline{"not channels-last"};
  if (primitive_is_faster(shape)) return Decline{"oneDNN is faster"};
  const auto weights = shared_weights<std::vector<float>>(site.context.weights, w, "depthwise", [&] {
    const Tensor source = w.aligned();
    return std::make_shared<std::vector<float>>(DepthwisePlan::packed(source.data<float>(), shape));
  });
  const auto plan = std::make_shared<const DepthwisePlan>(shape, weights, site.context.threads);
  PlannedStep step = channels_last_step(site, *conv);
  if (!plan->in_place()) step.in_place = -1;
  step.packed_bytes = weights->size() * sizeof(float);
  step.run = [plan, act = conv->act, bias = conv->bias, addend = conv->addend](const Buffers& b) {
    plan->run({.src = b.in<float>(ConvSite::kSource),
               .dst = b.out<float>(0),
               .bias = bias ? b.in<float>(ConvSite::kBias) : nullptr,
               .addend = addend ? b.in<float>(ConvSite::kAddend) : nullptr,
               .activation = act});
  };
  return step;
}

constexpr Kernel kKernels[] = {
    {.domain = "", .op = "Conv", .plan = plan_depthwise, .layout = LayoutRule::kChannelsLast},
    {.domain = "com.microsoft", .op = "FusedConv", .plan = plan_depthwise, .layout = LayoutRule::kChannelsLast},
};

}  // namespace

std::span<const Kernel> conv_depthwise_kernels() { return kKernels; }

}  // namespace mlopt::cpu
