// Matrix products by oneDNN's primitives.
#include <utility>

#include "backends/cpu/arithmetic.h"
#include "backends/cpu/matmul.h"
#include "backends/cpu/primitive.h"

namespace mlopt::cpu {
namespace {

dnnl::primitive_attr attr_of(const MatMul& s, bool addend) {
  dnnl::primitive_attr attr = new_attr();
  dnnl::post_ops ops;
  if (addend) ops.append_sum(1.0f);
  if (s.alpha != 1) ops.append_eltwise(dnnl::algorithm::eltwise_linear, s.alpha, 0);
  attr.set_post_ops(ops);
  return attr;
}

std::vector<Primitive::Argument> arguments(const Desc& left, const Desc& right, Source from, const Desc& out,
                                           const Desc& bias) {
  std::vector<Primitive::Argument> args{{DNNL_ARG_SRC, left, Source::in(MatMul::kLeft)},
                                        {DNNL_ARG_WEIGHTS, right, std::move(from)},
                                        {DNNL_ARG_DST, out, Source::out(0)}};
  if (bias.get_size() > 0) args.push_back({DNNL_ARG_BIAS, bias, Source::in(MatMul::kAddend)});
  return args;
}

/// A constant matrix is packed for an inner product: oneDNN's matmul packs it in every run on some processors.
Expected<Primitive> make_packed(const MatMul& s, const Product& p, const Site& site, bool bias, bool addend) {
  const Desc left = plain(Elem::f32, p.a), out = plain(Elem::f32, p.out), b = bias ? plain(Elem::f32, {p.n()}) : Desc();
  const dnnl::inner_product_forward::primitive_desc pd(engine(), dnnl::prop_kind::forward_inference, left,
                                                       any(Elem::f32, {p.n(), p.k()}), b, out, attr_of(s, addend),
                                                       true);
  if (is_slow(pd)) return Decline{"oneDNN has only a plain loop for it"};
  const Desc given = matrix(Elem::f32, {p.n(), p.k()}, !s.swap_right);
  Source right = packed(site, MatMul::kRight, s.swap_right ? "rows" : "columns", given, pd.weights_desc());
  return Primitive::make<dnnl::inner_product_forward>(pd, arguments(left, pd.weights_desc(), std::move(right), out, b));
}

Expected<Primitive> make_plain(const MatMul& s, const Product& p, bool bias, bool addend) {
  const Desc left = matrix(Elem::f32, p.a, s.swap_left), right = matrix(Elem::f32, p.b, s.swap_right);
  const Desc out = plain(Elem::f32, p.out), b = bias ? plain(Elem::f32, {1, p.n()}) : Desc();
  const dnnl::matmul::primitive_desc pd(engine(), left, right, b, out, attr_of(s, addend), true);
  if (is_slow(pd)) return Decline{"oneDNN has only a plain loop for it"};
  return Primitive::make<dnnl::matmul>(pd, arguments(left, right, Source::in(MatMul::kRight), out, b));
}

}  // namespace

Expected<PlannedStep> plan_primitive(const MatMul& s, const Product& p, const Site& site, bool given) {
  // A row is the primitive's bias; any other addend lies in the output beforehand, as beta / alpha C: alpha (A B +
  // beta / alpha C) is the order of post-operations that the products have kernels for.
  const bool bias = given && s.alpha == 1 && s.beta == 1 && is_bias(p, site.desc(MatMul::kAddend).dims);
  const bool addend = given && !bias, packs = constant_right(site) && p.b.size() == 2 && !s.swap_left;
  auto made = packs ? make_packed(s, p, site, bias, addend) : make_plain(s, p, bias, addend);
  if (!made) return made.error();
  PlannedStep step{.out = {{DType::kF32, p.result}}};
  step.scratch_bytes = made->scratch_bytes();
  if (packs) step.packed = {MatMul::kRight};
  const Paired spread = addend ? paired(p.out, site.desc(MatMul::kAddend).dims, {}) : Paired{};
  step.run = [=, op = std::move(*made), act = s.act, scale = s.beta / s.alpha,
              count = step.out[0].size()](const Buffers& b) {
    auto* y = b.out<float>(0);
    if (addend) run_arithmetic(Arithmetic::kMul, spread, b.in<float>(MatMul::kAddend), &scale, y);
    op.run(b);
    if (act.fn != Fn::kNone) apply(act, y, y, count);
  };
  return step;
}

}  // namespace mlopt::cpu
