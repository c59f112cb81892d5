// Conv and com.microsoft.FusedConv: dst = activation(conv(src, weights) + bias + addend).
#include <utility>

#include "backends/cpu/activation.h"
#include "backends/cpu/kernels.h"
#include "backends/cpu/operand.h"
#include "backends/cpu/planned.h"
#include "backends/cpu/window.h"

namespace mlopt::cpu {
namespace {

enum Input { kSource, kWeights, kBias, kAddend };

/// What all plans of a step share.
struct Shared {
  NodeView view;
  Activation act;
  std::shared_ptr<Packed> weights, bias;  ///< null: not constant
};

/// [M, C/g, k...] as oneDNN has it: [g, M/g, C/g, k...] for grouped convolutions.
Dims weight_dims(const Dims& w, int64_t groups) {
  if (groups == 1) return w;
  Dims grouped = w;
  grouped[0] /= groups;
  grouped.insert(grouped.begin(), groups);
  return grouped;
}

struct Shapes {
  Dims src, weights, dst;
  int64_t groups;
  Window window;
};

Expected<Shapes> shapes_of(const NodeView& view, const Call& call) {
  const Dims &x = call.in(kSource).dims(), &w = call.in(kWeights).dims();
  if (x.size() < 3 || x.size() > 5 || w.size() != x.size()) return Decline{"only 1 to 3 spatial axes"};
  const int64_t groups = view.get_int("group", 1);
  if (groups < 1 || w[0] % groups != 0 || w[1] * groups != x[1]) return Decline{"channels and groups do not fit"};
  if (view.get_ints("kernel_shape", spatial_of(w)) != spatial_of(w)) return Decline{"kernel_shape is not the weights'"};
  const auto window = window_over(view, spatial_of(x), spatial_of(w));
  if (!window) return window.error();
  const auto out = positions(*window, spatial_of(x));
  if (!out) return out.error();
  Dims dst{x[0], w[0]};
  dst.insert(dst.end(), out->begin(), out->end());
  if (call.has(kBias) && call.in(kBias).dims() != Dims{w[0]}) return Decline{"bias does not fit"};
  if (call.has(kAddend) && call.in(kAddend).dims() != dst) return Decline{"addend does not fit"};
  return Shapes{x, weight_dims(w, groups), std::move(dst), groups, *window};
}

dnnl::primitive_attr attr_of(bool addend) {
  dnnl::primitive_attr attr = new_attr();
  if (!addend) return attr;
  dnnl::post_ops sum;
  sum.append_sum(1.0f);
  attr.set_post_ops(sum);
  return attr;
}

using Pd = dnnl::convolution_forward::primitive_desc;

/// A convolution of one tap is a matrix product on row-major tensors; for others the copies into and out of the layout
/// that the primitive prefers cost less than what the row-major form of it loses.
Pd choose(const Shapes& s, const dnnl::primitive_attr& attr, bool bias) {
  const auto make = [&](bool row_major) {
    const Desc src = row_major ? plain(Elem::f32, s.src) : any(Elem::f32, s.src);
    const Desc dst = row_major ? plain(Elem::f32, s.dst) : any(Elem::f32, s.dst);
    const Desc b = bias ? plain(Elem::f32, {s.dst[1]}) : Desc();
    return Pd(engine(), dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct, src,
              any(Elem::f32, s.weights), b, dst, s.window.strides, s.window.gaps(), s.window.begin, s.window.end, attr);
  };
  if (s.window.is_point() && s.groups == 1) return make(true);
  Pd pd = make(false);
  return is_slow(pd) ? make(true) : pd;
}

Expected<Step> plan(const Shared& shared, const Call& call) {
  for (int i = 0; i < call.input_count(); ++i)
    if (call.has(i) && call.in(i).dtype() != DType::kF32) return Decline{"not float32"};
  const auto shapes = shapes_of(shared.view, call);
  if (!shapes) return shapes.error();
  const bool bias = call.has(kBias), addend = call.has(kAddend);
  const Pd pd = choose(*shapes, attr_of(addend), bias);
  if (is_slow(pd)) return Decline{"oneDNN has only a plain loop for it"};
  const Operand src(kSource, plain(Elem::f32, shapes->src), pd.src_desc());
  const Operand weights = operand(kWeights, plain(Elem::f32, shapes->weights), pd.weights_desc(), shared.weights);
  const Operand b = bias ? operand(kBias, pd.bias_desc(), pd.bias_desc(), shared.bias) : Operand();
  const Result dst(DType::kF32, shapes->dst, plain(Elem::f32, shapes->dst), pd.dst_desc());
  return Step([=, act = shared.act, op = Op::make<dnnl::convolution_forward>(pd)](Call& c) {
    Workspace space;
    const Memory out = addend ? dst.open_with(c, kAddend, space) : dst.open(c, space);
    Args args{{DNNL_ARG_SRC, src.get(c, space)}, {DNNL_ARG_WEIGHTS, weights.get(c, space)}, {DNNL_ARG_DST, out}};
    if (bias) args.emplace(DNNL_ARG_BIAS, b.get(c, space));
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
  return std::make_shared<Packed>(*w, plain(Elem::f32, weight_dims(w->dims(), groups)));
}

Expected<Step> compile(const NodeView& view, const CompileContext& context) {
  if (const auto no = wrong_type(view, kSource, {DType::kF32})) return *no;
  const auto act = fused_activation(view);
  if (!act) return act.error();
  const Tensor* bias = packable(view, kBias, context);
  const bool ready = bias && bias->dtype() == DType::kF32 && bias->rank() == 1;
  Shared shared{view, *act, packed_weights(view, context),
                ready ? std::make_shared<Packed>(*bias, plain(*bias)) : nullptr};
  return planned(view, context, [shared = std::move(shared)](const Call& call) { return plan(shared, call); });
}

constexpr Kernel kKernels[] = {
    {.domain = "", .op = "Conv", .compile = compile},
    {.domain = "com.microsoft", .op = "FusedConv", .compile = compile},
};

}  // namespace

std::span<const Kernel> conv_kernels() { return kKernels; }

}  // namespace mlopt::cpu
