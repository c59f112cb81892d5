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

/// In which the operands are multiplied; sums are float32.
Elem operand(const Site& site) { return site.context.precision == Precision::kBF16 ? Elem::bf16 : Elem::f32; }

/// An addend, of float32, lies in the output before.
DType made(const MatMul& s, const Site& site) { return site.halves && s.addend < 0 ? DType::kBF16 : DType::kF32; }
Elem given(const Site& site, int i) { return *elem_of(site.desc(i).dtype); }

template <class T>
Primitive make(const typename T::primitive_desc& pd, const MatMul& s, Source left, Source right, Primitive before) {
  std::vector<Primitive::Argument> args{{DNNL_ARG_SRC, pd.src_desc(), std::move(left)},
                                        {DNNL_ARG_WEIGHTS, pd.weights_desc(), std::move(right)},
                                        {DNNL_ARG_DST, pd.dst_desc(), Source::out(0)}};
  if (s.bias >= 0) args.push_back({DNNL_ARG_BIAS, pd.bias_desc(), Source::in(s.bias)});
  Primitive op = Primitive::make<T>(pd, std::move(args), before.scratch_bytes());
  op.run_after(std::move(before));
  return op;
}

/// A constant matrix is packed for an inner product: oneDNN's matmul packs it in every run on some processors.
Expected<Primitive> make_packed(const MatMul& s, const Product& p, const Site& site) {
  const Elem elem = operand(site);
  const Desc out = plain(made(s, site), p.out), b = s.bias >= 0 ? plain(Elem::f32, {p.n()}) : Desc();
  const dnnl::inner_product_forward::primitive_desc pd(engine(), dnnl::prop_kind::forward_inference, plain(elem, p.a),
                                                       any(elem, {p.n(), p.k()}), b, out, attr_of(s), true);
  if (is_slow(pd)) return Decline{"oneDNN has only a plain loop for it"};
  Primitive before;
  Source left = input_as(MatMul::kLeft, plain(given(site, MatMul::kLeft), p.a), pd.src_desc(), before);
  const Desc lies = matrix(Elem::f32, {p.n(), p.k()}, !s.swap_right);
  Source right = packed(site, MatMul::kRight, s.swap_right ? "rows" : "columns", lies, pd.weights_desc());
  return make<dnnl::inner_product_forward>(pd, s, std::move(left), std::move(right), std::move(before));
}

Expected<Primitive> make_plain(const MatMul& s, const Product& p, const Site& site) {
  const Elem elem = operand(site);
  const Desc out = plain(made(s, site), p.out), b = s.bias >= 0 ? plain(Elem::f32, {1, p.n()}) : Desc();
  const dnnl::matmul::primitive_desc pd(engine(), matrix(elem, p.a, s.swap_left), matrix(elem, p.b, s.swap_right), b,
                                        out, attr_of(s), true);
  if (is_slow(pd)) return Decline{"oneDNN has only a plain loop for it"};
  Primitive before;
  const auto as = [&](int i, const Dims& dims, bool swap, const Desc& wanted) {
    return input_as(i, matrix(given(site, i), dims, swap), wanted, before);
  };
  Source left = as(MatMul::kLeft, p.a, s.swap_left, pd.src_desc());
  Source right = as(MatMul::kRight, p.b, s.swap_right, pd.weights_desc());
  return make<dnnl::matmul>(pd, s, std::move(left), std::move(right), std::move(before));
}

}  // namespace

Expected<PlannedStep> plan_primitive(const MatMul& given, const Product& p, const Site& site) {
  // A row is the primitive's bias, where the product is not scaled. Any other addend lies in the output beforehand, as
  // beta / alpha C: alpha (A B + beta / alpha C) is the order of post-operations that the products have kernels for.
  MatMul s = given;
  if (s.alpha != 1 && s.addend < 0) std::swap(s.bias, s.addend);
  if (s.alpha != 1 && s.bias >= 0) return Decline{"the product is scaled and both are added"};
  const bool packs = constant_right(site) && p.b.size() == 2 && !s.swap_left;
  auto op = packs ? make_packed(s, p, site) : make_plain(s, p, site);
  if (!op) return op.error();
  PlannedStep step{.out = {{made(s, site), p.result}}};
  op->describe(step);
  if (packs) step.packed = {MatMul::kRight};
  const Paired spread = s.addend >= 0 ? paired(p.result, site.desc(s.addend).dims, {}) : Paired{};
  step.run = [=, op = std::move(*op), scale = s.beta / s.alpha, out = step.out[0]](const Buffers& b) {
    if (s.addend >= 0) run_arithmetic(Arithmetic::kMul, spread, b.in<float>(s.addend), &scale, b.out<float>(0));
    op.run(b);
    apply_to(s.act, out, b.out<std::byte>(0));
  };
  return step;
}

}  // namespace mlopt::cpu
