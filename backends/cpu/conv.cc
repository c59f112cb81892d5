// Conv and com.microsoft.FusedConv: dst = activation(conv(src, weights) + bias + addend).
#include <fmt/core.h>

#include <utility>

#include "backends/cpu/conv_site.h"
#include "backends/cpu/kernels.h"
#include "backends/cpu/primitive.h"

namespace mlopt::cpu {
namespace {

enum Input { kSource, kWeights, kBias, kAddend };

dnnl::primitive_attr attr_of(bool addend) {
  dnnl::primitive_attr attr = new_attr();
  if (!addend) return attr;
  dnnl::post_ops sum;
  sum.append_sum(1.0f);
  attr.set_post_ops(sum);
  return attr;
}

/// A primitive for one choice of layouts.
struct Choice {
  mlopt::Layout src, dst;
  ConvPd pd;
};

bool is_product_of_copies(const ConvPd& pd) {
  return std::string_view(pd.impl_info_str()).find("gemm") != std::string_view::npos;
}

/// The first primitive that convolves directly: in the layouts that are at hand, then channels-last, then row-major.
/// Else the first that copies its input for a matrix product.
Expected<Choice> choose(const Site& site, const ConvShape& shapes, DType type, bool bias, bool addend) {
  using L = mlopt::Layout;
  const std::pair<L, L> layouts[] = {
      {site.desc(kSource).layout, site.layout}, {L::kChannelsLast, L::kChannelsLast}, {L::kRowMajor, L::kRowMajor}};
  std::optional<Choice> second;
  for (const auto& [src, dst] : layouts) {
    ConvPd pd = describe_conv(shapes, desc_of({type, shapes.src, src}), *elem_of(type),
                              bias ? plain(Elem::f32, {shapes.channels_out()}) : Desc(),
                              desc_of({DType::kF32, shapes.dst, dst}), attr_of(addend));
    if (is_slow(pd)) continue;
    if (!is_product_of_copies(pd)) return Choice{src, dst, std::move(pd)};
    if (!second) second = Choice{src, dst, std::move(pd)};
  }
  if (!second) return Decline{"oneDNN has only a plain loop for it"};
  return *std::move(second);
}

/// `type`: in which source and weights are multiplied; sums are float32.
Expected<PlannedStep> plan_with(const Site& site, DType type) {
  const auto conv = float_conv(site);
  if (!conv) return conv.error();
  const ConvShape shapes = long_axes_last(conv->shape);
  const bool bias = conv->bias, addend = conv->addend;
  const auto choice = choose(site, shapes, type, bias, addend);
  if (!choice) return choice.error();
  const ConvPd& pd = choice->pd;
  PlannedStep step{.out = {{DType::kF32, conv->shape.dst, choice->dst}}};
  Primitive before;
  const Source weights = weights_of(site, kWeights, fmt::format("conv of {}", to_string(shapes.weights)),
                                    plain(Elem::f32, shapes.weights), pd.weights_desc(), step, before);
  const Source source = input_as(kSource, desc_of({DType::kF32, shapes.src, choice->src}), pd.src_desc(), before);
  std::vector<Primitive::Argument> args{{DNNL_ARG_SRC, pd.src_desc(), source},
                                        {DNNL_ARG_WEIGHTS, pd.weights_desc(), weights},
                                        {DNNL_ARG_DST, pd.dst_desc(), Source::out(0)}};
  if (bias) args.push_back({DNNL_ARG_BIAS, pd.bias_desc(), Source::in(kBias)});
  auto op = Primitive::make<dnnl::convolution_forward>(pd, std::move(args), before.scratch_bytes());
  op.run_after(std::move(before));
  op.describe(step);
  if (addend) step.in_place = kAddend;
  step.in = {choice->src, mlopt::Layout::kRowMajor, mlopt::Layout::kRowMajor, choice->dst};
  step.in.resize(site.in.size());
  step.run = [op = std::move(op), act = conv->act, addend, count = step.out[0].size()](const Buffers& b) {
    auto* y = b.out<float>(0);
    if (addend && b.in<float>(kAddend) != y) std::copy_n(b.in<float>(kAddend), count, y);
    op.run(b);
    if (act.fn != Fn::kNone) apply(act, y, y, count);
  };
  return step;
}

Expected<PlannedStep> plan_conv(const Site& site) { return plan_with(site, DType::kF32); }

/// Convolutions of single channels do too little with a number that they read for its conversion to pay.
Expected<PlannedStep> plan_bf16(const Site& site) {
  if (site.context.precision != Precision::kBF16) return Decline{"float32 is asked for"};
  if (site.desc(kWeights).dims.size() > 1 && site.desc(kWeights).dims[1] == 1 && site.view.get_int("group", 1) > 1)
    return Decline{"a convolution of single channels"};
  return plan_with(site, DType::kBF16);
}

constexpr Kernel kHalfKernels[] = {
    {.domain = "", .op = "Conv", .plan = guarded<plan_bf16>, .layout = LayoutRule::kChannelsLast},
    {.domain = "com.microsoft", .op = "FusedConv", .plan = guarded<plan_bf16>, .layout = LayoutRule::kChannelsLast},
};

constexpr Kernel kKernels[] = {
    {.domain = "", .op = "Conv", .plan = guarded<plan_conv>, .layout = LayoutRule::kChannelsLast},
    {.domain = "com.microsoft", .op = "FusedConv", .plan = guarded<plan_conv>, .layout = LayoutRule::kChannelsLast},
};

}  // namespace

std::span<const Kernel> conv_bf16_kernels() { return kHalfKernels; }
std::span<const Kernel> conv_kernels() { return kKernels; }

}  // namespace mlopt::cpu
