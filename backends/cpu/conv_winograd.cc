// Conv and com.microsoft.FusedConv with 3 x 3 weights by Winograd's method, where it saves time.
#include "backends/cpu/conv_site.h"
#include "backends/cpu/kernels.h"
#include "backends/cpu/winograd.h"
#include "core/exec/weight_cache.h"

namespace mlopt::cpu {
namespace {

Expected<PlannedStep> plan_winograd(const Site& site) {
  const auto conv = channels_last_conv(site);
  if (!conv) return conv.error();
  const ConvShape& shape = conv->shape;
  const int tile = winograd_tile(shape, site.context.threads);
  if (tile == 0) return Decline{"a direct convolution is faster"};
  const Tensor& w = *site.constant(ConvSite::kWeights);
  const auto weights = shared_weights<WinogradWeights>(
      site.context.weights, w, tile == 2 ? "winograd 2" : "winograd 4",
      [&] { return std::make_shared<WinogradWeights>(w.aligned().data<float>(), w.dim(0), w.dim(1), tile); });
  if (!weights->is_finite()) return Decline{"weights are not finite"};
  const auto plan = std::make_shared<const WinogradPlan>(shape, weights, site.context.threads);
  PlannedStep step = channels_last_step(site, *conv);
  step.scratch_bytes = plan->workspace_bytes();
  step.packed_bytes = weights->bytes();
  step.run = [plan, act = conv->act, bias = conv->bias, addend = conv->addend](const Buffers& b) {
    plan->run({.src = b.in<float>(ConvSite::kSource),
               .dst = b.out<float>(0),
               .bias = bias ? b.in<float>(ConvSite::kBias) : nullptr,
               .addend = addend ? b.in<float>(ConvSite::kAddend) : nullptr,
               .activation = act},
              b.scratch);
  };
  return step;
}

constexpr Kernel kKernels[] = {
    {.domain = "", .op = "Conv", .plan = plan_winograd, .layout = LayoutRule::kChannelsLast},
    {.domain = "com.microsoft", .op = "FusedConv", .plan = plan_winograd, .layout = LayoutRule::kChannelsLast},
};

}  // namespace

std::span<const Kernel> conv_winograd_kernels() { return kKernels; }

}  // namespace mlopt::cpu
