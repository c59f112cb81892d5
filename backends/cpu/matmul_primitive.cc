// Matrix products by oneDNN's primitives.
#include <utility>

#include "backends/cpu/arithmetic.h"
#include "backends/cpu/matmul.h"

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

/// A primitive and the memory that it takes.
struct Made {
  Op op;
  Desc left, right, bias;
};

/// A constant matrix is packed for an inner product: oneDNN's matmul packs it in every run on some processors.
bool packs(const MatMul& s, const Product& p) { return s.right && p.b.size() == 2 && !s.swap_left; }

Expected<Made> make_packed(const MatMul& s, const Product& p, bool bias, bool addend) {
  const Desc left = plain(Elem::f32, p.a), out = plain(Elem::f32, p.out), b = bias ? plain(Elem::f32, {p.n()}) : Desc();
  const dnnl::inner_product_forward::primitive_desc pd(engine(), dnnl::prop_kind::forward_inference, left,
                                                       any(Elem::f32, {p.n(), p.k()}), b, out, attr_of(s, addend),
                                                       true);
  if (is_slow(pd)) return Decline{"oneDNN has only a plain loop for it"};
  return Made{Op::make<dnnl::inner_product_forward>(pd), left, pd.weights_desc(), b};
}

Expected<Made> make_plain(const MatMul& s, const Product& p, bool bias, bool addend) {
  const Desc left = matrix(Elem::f32, p.a, s.swap_left), right = matrix(Elem::f32, p.b, s.swap_right);
  const Desc out = plain(Elem::f32, p.out), b = bias ? plain(Elem::f32, {1, p.n()}) : Desc();
  const dnnl::matmul::primitive_desc pd(engine(), left, right, b, out, attr_of(s, addend), true);
  if (is_slow(pd)) return Decline{"oneDNN has only a plain loop for it"};
  return Made{Op::make<dnnl::matmul>(pd), left, right, b};
}

/// Makes the output tensor; where an addend is given, with beta / alpha C in it: alpha (A B + beta / alpha C) is the
/// order of post-operations that the products have kernels for.
Tensor& prepared_output(const MatMul& s, const Product& p, bool addend, Call& call) {
  Tensor& out = call.make(0, DType::kF32, p.result);
  if (!addend) return out;
  const Tensor& c = call.in(MatMul::kAddend);
  const float scale = s.beta / s.alpha;
  run_arithmetic(Arithmetic::kMul, paired(p.out, c.dims(), {}), c.data<float>(), &scale, out.mutable_data<float>());
  return out;
}

}  // namespace

Expected<Step> plan_primitive(const std::shared_ptr<const MatMul>& s, const Product& p, const Call& call, bool given) {
  // A row is the primitive's bias; any other addend lies in the output beforehand.
  const bool bias = given && s->alpha == 1 && s->beta == 1 && is_bias(p, call.in(MatMul::kAddend).dims());
  const bool addend = given && !bias, packed = packs(*s, p);
  const auto made = packed ? make_packed(*s, p, bias, addend) : make_plain(*s, p, bias, addend);
  if (!made) return made.error();
  const Operand right =
      operand(MatMul::kRight, made->right, made->right, packed ? s->right->for_primitives() : nullptr);
  return Step([=, m = *made](Call& c) {
    Workspace space;
    Tensor& out = prepared_output(*s, p, addend, c);
    Args args{{DNNL_ARG_SRC, wrap(m.left, c.in(MatMul::kLeft))},
              {DNNL_ARG_WEIGHTS, right.get(c, space)},
              {DNNL_ARG_DST, wrap(plain(Elem::f32, p.out), out)}};
    if (bias) args.emplace(DNNL_ARG_BIAS, wrap(m.bias, c.in(MatMul::kAddend)));
    m.op.run(std::move(args), space);
    if (s->act.fn == Fn::kNone) return;
    auto* y = out.mutable_data<float>();
    apply(s->act, y, y, out.size());
  });
}

}  // namespace mlopt::cpu
