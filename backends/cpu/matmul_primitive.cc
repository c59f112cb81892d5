// Matrix products by oneDNN's primitives.
#include <utility>

#include "backends/cpu/arithmetic.h"
#include "backends/cpu/matmul.h"
#include "backends/cpu/primitive.h"

namespace mlopt::cpu {
namespace {

dnnl::primitive_attr attr_of(const MatMul& s) {
  dnnl::primitive_attr attr = new_attr();
  dnnl::post_ops ops;
  if (s.addend >= 0) ops.append_sum(1.0f);
  if (s.alpha != 1) ops.append_eltwise(dnnl::algorithm::eltwise_linear, s.alpha, 0);
  attr.set_post_ops(ops);
  return attr;
}

std::vector<Primitive::Argument> arguments(const MatMul& s, const Desc& left, const Desc& right, Source from,
                                           const Desc& out, const Desc& bias) {
  std::vector<Primitive::Argument> args{{DNNL_ARG_SRC, left, Source::in(MatMul::kLeft)},
                                        {DNNL_ARG_WEIGHTS, right, std::move(from)},
                                        {DNNL_ARG_DST, out, Source::out(0)}};
  if (s.bias >= 0) args.push_back({DNNL_ARG_BIAS, bias, Source::in(s.bias)});
  return args;
}

/// A constant matrix is packed for an inner product: oneDNN's matmul packs it in every run on some processors.
Expected<Primitive> make_packed(const MatMul& s, const Product& p, const Site& site) {
  const Desc left = plain(Elem::f32, p.a), out = plain(Elem::f32, p.out),
             b = s.bias >= 0 ? plain(Elem::f32, {p.n()}) : Desc();
  const dnnl::inner_product_forward::primitive_desc pd(engine(), dnnl::prop_kind::forward_inference, left,
                                                       any(Elem::f32, {p.n(), p.k()}), b, out, attr_of(s), true);
  if (is_slow(pd)) return Decline{"oneDNN has only a plain loop for it"};
  const Desc given = matrix(Elem::f32, {p.n(), p.k()}, !s.swap_right);
  Source right = packed(site, MatMul::kRight, s.swap_right ? "rows" : "columns", given, pd.weights_desc());
  return Primitive::make<dnnl::inner_product_forward>(pd,
                                                      arguments(s, left, pd.weights_desc(), std::move(right), out, b));
}

Expected<Primitive> make_plain(const MatMul& s, const Product& p) {
  const Desc left = matrix(Elem::f32, p.a, s.swap_left), right = matrix(Elem::f32, p.b, s.swap_right);
  const Desc out = plain(Elem::f32, p.out), b = s.bias >= 0 ? plain(Elem::f32, {1, p.n()}) : Desc();
  const dnnl::matmul::primitive_desc pd(engine(), left, right, b, out, attr_of(s), true);
  if (is_slow(pd)) return Decline{"oneDNN has only a plain loop for it"};
  return Primitive::make<dnnl::matmul>(pd, arguments(s, left, right, Source::in(MatMul::kRight), out, b));
}

}  // namespace

Expected<PlannedStep> plan_primitive(const MatMul& given, const Product& p, const Site& site) {
  // A row is the primitive's bias, where the product is not scaled. Any other addend lies in the output beforehand, as
  // beta / alpha C: alpha (A B + beta / alpha C) is the order of post-operations that the products have kernels for.
  MatMul s = given;
  if (s.alpha != 1 && s.addend < 0) std::swap(s.bias, s.addend);
  if (s.alpha != 1 && s.bias >= 0) return Decline{"the product is scaled and both are added"};
  const bool packs = constant_right(site) && p.b.size() == 2 && !s.swap_left;
  auto made = packs ? make_packed(s, p, site) : make_plain(s, p);
  if (!made) return made.error();
  PlannedStep step{.out = {{DType::kF32, p.result}}};
  made->describe(step);
  if (packs) step.packed = {MatMul::kRight};
  const Paired spread = s.addend >= 0 ? paired(p.result, site.desc(s.addend).dims, {}) : Paired{};
  step.run = [=, op = std::move(*made), scale = s.beta / s.alpha, count = step.out[0].size()](const Buffers& b) {
    auto* y = b.out<float>(0);
    if (s.addend >= 0) run_arithmetic(Arithmetic::kMul, spread, b.in<float>(s.addend), &scale, y);
    op.run(b);
    if (s.act.fn != Fn::kNone) apply(s.act, y, y, count);
  };
  return step;
}

}  // namespace mlopt::cpu
