// Conv and com.microsoft.FusedConv with 1 x 1 weights: a matrix product of tiles of our own, with the sum and the
// activation in their epilogue.
#include "backends/cpu/conv_site.h"
#include "backends/cpu/kernels.h"
#include "backends/cpu/matmul.h"
#include "backends/cpu/packed_product.h"
#include "core/exec/weight_cache.h"

namespace mlopt::cpu {
namespace {

Expected<PlannedStep> plan_point(const Site& site) {
  const auto conv = channels_last_conv(site);
  if (!conv) return conv.error();
  const ConvShape& shape = conv->shape;
  if (!shape.window.is_point() || shape.groups != 1 || element_count(shape.window.strides) != 1)
    return Decline{"not a matrix product"};
  const int64_t positions = element_count(shape.dst) / shape.dst[1], c = shape.src[1], k = shape.dst[1];
  if (!prefers_tiles(positions, c, k, true) && !waits_for_weights(positions, c, k, site.view.node()))
    return Decline{"oneDNN is faster"};
  const Tensor& w = *site.constant(ConvSite::kWeights);
  const auto weights = shared_weights<PackedMatrix>(site.context.weights, w, "tiles of rows", [&] {
    const Tensor source = w.aligned();
    return std::make_shared<PackedMatrix>(MatrixView{source.data<float>(), 1, c}, c, k);
  });
  const auto plan = std::make_shared<const ProductPlan>(ProductShape{positions, k, c}, weights, site.context.threads);
  PlannedStep step = channels_last_step(site, *conv);
  step.scratch_bytes = plan->workspace_bytes();
  step.packed_bytes = weights->bytes();
  step.run = [=, act = conv->act, bias = conv->bias, addend = conv->addend](const Buffers& b) {
    plan->run({.a = {b.in<float>(ConvSite::kSource), c, 1},
               .c = b.out<float>(0),
               .c_stride = k,
               .addend = addend ? b.in<float>(ConvSite::kAddend) : nullptr,
               .addend_stride = k,
               .bias = bias ? b.in<float>(ConvSite::kBias) : nullptr,
               .activation = act},
              b.scratch);
  };
  return step;
}

constexpr Kernel kKernels[] = {
    {.domain = "", .op = "Conv", .plan = plan_point, .layout = LayoutRule::kChannelsLast},
    {.domain = "com.microsoft", .op = "FusedConv", .plan = plan_point, .layout = LayoutRule::kChannelsLast},
};

}  // namespace

std::span<const Kernel> conv_point_kernels() { return kKernels; }

}  // namespace mlopt::cpu
