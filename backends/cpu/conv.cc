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
Expected<Choice> choose(const Site& site, const ConvShape& shapes, DType type, DType made, bool bias, bool addend) {
  using L = mlopt::Layout;
  const std::pair<L, L> layouts[] = {
      {site.desc(kSource).layout, site.layout}, {L::kChannelsLast, L::kChannelsLast}, {L::kRowMajor, L::kRowMajor}};
  std::optional<Choice> second;
  for (const auto& [src, dst] : layouts) {
    ConvPd pd = describe_conv(shapes, desc_of({type, shapes.src, src}), *elem_of(type),
                              bias ? plain(Elem::f32, {shapes.channels_out()}) : Desc(),
                              desc_of({made, shapes.dst, dst}), attr_of(addend));
    if (is_slow(pd)) continue;
    if (!is_product_of_copies(pd)) return Choice{src, dst, std::move(pd)};
    if (!second) second = Choice{src, dst, std::move(pd)};
  }
  if (!second) return Decline{"oneDNN has only a plain loop for it"};
  return *std::move(second);
}

/// `type`: in which source and weights are multiplied; sums are float32.
Expected<PlannedStep> plan_with(const Site& site, DType type) {
  const auto conv = float_conv(site, type == DType::kBF16);
  if (!conv) return conv.error();
  const ConvShape shapes = long_axes_last(conv->shape);
  const bool bias = conv->bias, addend = conv->addend;
  // Sums are added in place, so that the addend decides.
  const DType made = addend ? site.desc(kAddend).dtype : site.halves ? DType::kBF16 : DType::kF32;
  const auto choice = choose(site, shapes, type, made, bias, addend);
  if (!choice) return choice.error();
  const ConvPd& pd = choice->pd;
  PlannedStep step{.out = {{made, conv->shape.dst, choice->dst}}};
  Primitive before;
  const Source weights = weights_of(site, kWeights, fmt::format("conv of {}", to_string(shapes.weights)),
                                    plain(Elem::f32, shapes.weights), pd.weights_desc(), step, before);
  const Source source =
      input_as(kSource, desc_of({site.desc(kSource).dtype, shapes.src, choice->src}), pd.src_desc(), before);
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
  step.run = [op = std::move(op), act = conv->act, addend, out = step.out[0]](const Buffers& b) {
    auto* y = b.out<std::byte>(0);
    if (addend && b.in<std::byte>(kAddend) != y) std::copy_n(b.in<std::byte>(kAddend), out.bytes(), y);
    op.run(b);
    apply_to(act, out, y);
  };
  return step;
}

Expected<PlannedStep> plan_conv(const Site& site) { return plan_with(site, DType::kF32); }

/// Convolutions of single channels do too little with a number that they read for its conversion to pay.
bool is_of_channels(const Node& node) {
  const auto weights = node.input(kWeights) ? node.input(kWeights)->type.static_dims() : std::nullopt;
  return NodeView(node, 0).get_int("group", 1) > 1 && weights && weights->size() > 1 && (*weights)[1] == 1;
}

Bf16Rule rule(const Node& node) {
  if (is_of_channels(node)) return {};
  return {.multiplies = 1 << kSource, .passes = 1 << kAddend, .writes = true};
}

Expected<PlannedStep> plan_bf16(const Site& site) {
  if (site.context.precision != Precision::kBF16) return Decline{"float32 is asked for"};
  if (is_of_channels(site.view.node())) return Decline{"a convolution of single channels"};
  return plan_with(site, DType::kBF16);
}

constexpr Kernel kHalfKernels[] = {
    {.domain = "", .op = "Conv", .plan = guarded<plan_bf16>, .layout = LayoutRule::kChannelsLast, .bf16 = rule},
    {.domain = "com.microsoft",
     .op = "FusedConv",
     .plan = guarded<plan_bf16>,
     .layout = LayoutRule::kChannelsLast,
     .bf16 = rule},
};

constexpr Kernel kKernels[] = {
    {.domain = "", .op = "Conv", .plan = guarded<plan_conv>, .layout = LayoutRule::kChannelsLast},
    {.domain = "com.microsoft", .op = "FusedConv", .plan = guarded<plan_conv>, .layout = LayoutRule::kChannelsLast},
};

}  // namespace

std::span<const Kernel> conv_bf16_kernels() { return kHalfKernels; }
std::span<const Kernel> conv_kernels() { return kKernels; }

}  // namespace mlopt::cpu
