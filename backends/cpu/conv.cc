// Conv and com.microsoft.FusedConv: dst = activation(conv(src, weights) + bias + addend).
#include <utility>

#include "backends/cpu/conv_site.h"
#include "backends/cpu/kernels.h"
#include "backends/cpu/operand.h"
#include "backends/cpu/planned.h"
#include "backends/cpu/primitive.h"

namespace mlopt::cpu {
namespace {

enum Input { kSource, kWeights, kBias, kAddend };

/// What all plans of a step share.
struct Shared {
  NodeView view;
  Activation act;
  std::shared_ptr<Packed> weights;  ///< null: not constant
};

dnnl::primitive_attr attr_of(bool addend) {
  dnnl::primitive_attr attr = new_attr();
  if (!addend) return attr;
  dnnl::post_ops sum;
  sum.append_sum(1.0f);
  attr.set_post_ops(sum);
  return attr;
}

Expected<Step> plan(const Shared& shared, const Call& call) {
  for (int i = 0; i < call.input_count(); ++i)
    if (call.has(i) && call.in(i).dtype() != DType::kF32) return Decline{"not float32"};
  const auto shapes = conv_shape(shared.view, call.in(kSource).dims(), call.in(kWeights).dims());
  if (!shapes) return shapes.error();
  const bool bias = call.has(kBias), addend = call.has(kAddend);
  if (bias && call.in(kBias).dims() != Dims{shapes->channels_out()}) return Decline{"bias does not fit"};
  if (addend && call.in(kAddend).dims() != shapes->dst) return Decline{"addend does not fit"};
  const ConvPd pd = describe_float_conv(*shapes, attr_of(addend), bias);
  if (is_slow(pd)) return Decline{"oneDNN has only a plain loop for it"};
  const Operand src(kSource, plain(Elem::f32, shapes->src), pd.src_desc());
  const Operand weights = operand(kWeights, plain(Elem::f32, shapes->weights), pd.weights_desc(), shared.weights);
  const Result dst(DType::kF32, shapes->dst, plain(Elem::f32, shapes->dst), pd.dst_desc());
  return Step([=, act = shared.act, op = Op::make<dnnl::convolution_forward>(pd)](Call& c) {
    Workspace space;
    const Memory out = addend ? dst.open_with(c, kAddend, space) : dst.open(c, space);
    Args args{{DNNL_ARG_SRC, src.get(c, space)}, {DNNL_ARG_WEIGHTS, weights.get(c, space)}, {DNNL_ARG_DST, out}};
    if (bias) args.emplace(DNNL_ARG_BIAS, wrap(pd.bias_desc(), c.in(kBias)));
    op.run(std::move(args), space);
    dst.close(c, out, space, act);
  });
}

/// The weights in input 1, given as [M, C/g, k...].
std::shared_ptr<Packed> packed_weights(const NodeView& view, const CompileContext& context) {
  const Tensor* w = packable(view, kWeights, context);
  const int64_t groups = view.get_int("group", 1);
  if (!w || w->dtype() != DType::kF32 || w->size() == 0 || w->rank() < 3 || groups < 1 || w->dim(0) % groups != 0)
    return nullptr;
  return std::make_shared<Packed>(*w, plain(Elem::f32, conv_weight_dims(w->dims(), groups)));
}

Expected<Step> compile(const NodeView& view, const CompileContext& context) {
  if (const auto no = wrong_type(view, kSource, {DType::kF32})) return *no;
  const auto act = fused_activation(view);
  if (!act) return act.error();
  Shared shared{view, *act, packed_weights(view, context)};
  return planned(view, context, [shared = std::move(shared)](const Call& call) { return plan(shared, call); });
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
Expected<Choice> choose(const Site& site, const ConvShape& shapes, bool bias, bool addend) {
  using L = mlopt::Layout;
  const std::pair<L, L> layouts[] = {
      {site.desc(kSource).layout, site.layout}, {L::kChannelsLast, L::kChannelsLast}, {L::kRowMajor, L::kRowMajor}};
  std::optional<Choice> second;
  for (const auto& [src, dst] : layouts) {
    ConvPd pd = describe_conv(shapes, desc_of({DType::kF32, shapes.src, src}), Elem::f32,
                              bias ? plain(Elem::f32, {shapes.channels_out()}) : Desc(),
                              desc_of({DType::kF32, shapes.dst, dst}), attr_of(addend));
    if (is_slow(pd)) continue;
    if (!is_product_of_copies(pd)) return Choice{src, dst, std::move(pd)};
    if (!second) second = Choice{src, dst, std::move(pd)};
  }
  if (!second) return Decline{"oneDNN has only a plain loop for it"};
  return *std::move(second);
}

Expected<PlannedStep> plan_conv(const Site& site) {
  const auto conv = float_conv(site);
  if (!conv) return conv.error();
  const ConvShape& shapes = conv->shape;
  const bool bias = conv->bias, addend = conv->addend;
  const auto choice = choose(site, shapes, bias, addend);
  if (!choice) return choice.error();
  const ConvPd& pd = choice->pd;
  const Memory weights = packed(site, kWeights, "conv", plain(Elem::f32, shapes.weights), pd.weights_desc());
  std::vector<Primitive::Argument> args{{DNNL_ARG_SRC, pd.src_desc(), Source::in(kSource)},
                                        {DNNL_ARG_WEIGHTS, pd.weights_desc(), Source::of(weights)},
                                        {DNNL_ARG_DST, pd.dst_desc(), Source::out(0)}};
  if (bias) args.push_back({DNNL_ARG_BIAS, pd.bias_desc(), Source::in(kBias)});
  auto op = Primitive::make<dnnl::convolution_forward>(pd, std::move(args));
  PlannedStep step{.out = {{DType::kF32, shapes.dst, choice->dst}}};
  step.scratch_bytes = op.scratch_bytes();
  step.packed = {kWeights};
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

constexpr Kernel kKernels[] = {
    {.domain = "", .op = "Conv", .compile = compile, .plan = guarded<plan_conv>, .layout = LayoutRule::kChannelsLast},
    {.domain = "com.microsoft",
     .op = "FusedConv",
     .compile = compile,
     .plan = guarded<plan_conv>,
     .layout = LayoutRule::kChannelsLast},
};

}  // namespace

std::span<const Kernel> conv_kernels() { return kKernels; }

}  // namespace mlopt::cpu
