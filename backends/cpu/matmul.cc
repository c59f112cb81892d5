// MatMul, Gemm and com.microsoft's fused forms: dst = activation(alpha A B + beta C).
#include <utility>

#include "backends/cpu/arithmetic.h"
#include "backends/cpu/kernels.h"
#include "backends/cpu/operand.h"
#include "backends/cpu/planned.h"
#include "backends/cpu/product.h"

namespace mlopt::cpu {
namespace {

enum Input { kLeft, kRight, kAddend };

struct Shared {
  bool swap_left = false, swap_right = false;
  float alpha = 1, beta = 1;
  Activation act = {};
  std::shared_ptr<Packed> right = {};  ///< null: not constant
};

/// A row added to every row of the product is the primitive's bias; any other addend lies in the output beforehand.
bool is_bias(const Shared& s, const Product& p, const Dims& addend) {
  return s.alpha == 1 && s.beta == 1 && p.n() > 1 && (addend == Dims{p.n()} || addend == Dims{1, p.n()});
}

dnnl::primitive_attr attr_of(const Shared& s, bool addend) {
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
bool packs(const Shared& s, const Product& p) { return s.right && p.b.size() == 2 && !s.swap_left; }

Expected<Made> make_packed(const Shared& s, const Product& p, bool bias, bool addend) {
  const Desc left = plain(Elem::f32, p.a), out = plain(Elem::f32, p.out), b = bias ? plain(Elem::f32, {p.n()}) : Desc();
  const dnnl::inner_product_forward::primitive_desc pd(engine(), dnnl::prop_kind::forward_inference, left,
                                                       any(Elem::f32, {p.n(), p.k()}), b, out, attr_of(s, addend),
                                                       true);
  if (is_slow(pd)) return Decline{"oneDNN has only a plain loop for it"};
  return Made{Op::make<dnnl::inner_product_forward>(pd), left, pd.weights_desc(), b};
}

Expected<Made> make_plain(const Shared& s, const Product& p, bool bias, bool addend) {
  const Desc left = matrix(Elem::f32, p.a, s.swap_left), right = matrix(Elem::f32, p.b, s.swap_right);
  const Desc out = plain(Elem::f32, p.out), b = bias ? plain(Elem::f32, {1, p.n()}) : Desc();
  const dnnl::matmul::primitive_desc pd(engine(), left, right, b, out, attr_of(s, addend), true);
  if (is_slow(pd)) return Decline{"oneDNN has only a plain loop for it"};
  return Made{Op::make<dnnl::matmul>(pd), left, right, b};
}

/// Makes the output tensor; where an addend is given, with beta / alpha C in it: alpha (A B + beta / alpha C) is the
/// order of post-operations that the products have kernels for.
Tensor& prepared_output(const Shared& s, const Product& p, bool addend, Call& call) {
  Tensor& out = call.make(0, DType::kF32, p.result);
  if (!addend) return out;
  const Tensor& c = call.in(kAddend);
  const float scale = s.beta / s.alpha;
  run_arithmetic(Arithmetic::kMul, paired(p.out, c.dims(), {}), c.data<float>(), &scale, out.mutable_data<float>());
  return out;
}

Expected<Step> plan(const std::shared_ptr<const Shared>& s, const Call& call) {
  for (int i = 0; i < call.input_count(); ++i)
    if (call.has(i) && call.in(i).dtype() != DType::kF32) return Decline{"not float32"};
  const auto p = product_of(call.in(kLeft).dims(), call.in(kRight).dims(), s->swap_left, s->swap_right);
  if (!p) return p.error();
  const bool given = call.has(kAddend) && s->beta != 0;
  if (given && broadcast(call.in(kAddend).dims(), p->out) != p->out)
    return Decline{"C does not broadcast to the product"};
  const bool bias = given && is_bias(*s, *p, call.in(kAddend).dims()), addend = given && !bias;
  const bool packed = packs(*s, *p);
  const auto made = packed ? make_packed(*s, *p, bias, addend) : make_plain(*s, *p, bias, addend);
  if (!made) return made.error();
  const Operand right = operand(kRight, made->right, made->right, packed ? s->right : nullptr);
  return Step([=, p = *p, m = *made](Call& c) {
    Workspace space;
    Tensor& out = prepared_output(*s, p, addend, c);
    Args args{{DNNL_ARG_SRC, wrap(m.left, c.in(kLeft))},
              {DNNL_ARG_WEIGHTS, right.get(c, space)},
              {DNNL_ARG_DST, wrap(plain(Elem::f32, p.out), out)}};
    if (bias) args.emplace(DNNL_ARG_BIAS, wrap(m.bias, c.in(kAddend)));
    m.op.run(std::move(args), space);
    if (s->act.fn == Fn::kNone) return;
    auto* y = out.mutable_data<float>();
    apply(s->act, y, y, out.size());
  });
}

/// A constant right operand, when it is one matrix, as an inner product counts it: [N, K].
std::shared_ptr<Packed> packed_right(const NodeView& view, const CompileContext& context, bool swapped) {
  const Tensor* b = packable(view, kRight, context);
  if (!b || b->dtype() != DType::kF32 || b->rank() != 2 || b->size() == 0) return nullptr;
  const Dims dims = swapped ? b->dims() : Dims{b->dim(1), b->dim(0)};
  return std::make_shared<Packed>(*b, matrix(Elem::f32, dims, !swapped));
}

Expected<Step> compile_with(const NodeView& view, const CompileContext& context, Shared shared) {
  if (const auto no = wrong_type(view, kLeft, {DType::kF32})) return *no;
  const auto act = fused_activation(view);
  if (!act) return act.error();
  if (shared.alpha == 0) return Decline{"alpha is 0"};
  shared.act = *act;
  shared.right = packed_right(view, context, shared.swap_right);
  return planned(view, context,
                 [s = std::make_shared<const Shared>(std::move(shared))](const Call& call) { return plan(s, call); });
}

Expected<Step> compile_matmul(const NodeView& view, const CompileContext& context) {
  if (view.get_int("transBatchA", 0) != 0 || view.get_int("transBatchB", 0) != 0) return Decline{"batches are swapped"};
  return compile_with(view, context,
                      {.swap_left = view.get_int("transA", 0) != 0,
                       .swap_right = view.get_int("transB", 0) != 0,
                       .alpha = view.get_float("alpha", 1)});
}

Expected<Step> compile_gemm(const NodeView& view, const CompileContext& context) {
  if (const Value* a = view.node().input(kLeft); a && a->type.dims && a->type.dims->size() != 2)
    return Decline{"not matrices"};
  return compile_with(view, context,
                      {.swap_left = view.get_int("transA", 0) != 0,
                       .swap_right = view.get_int("transB", 0) != 0,
                       .alpha = view.get_float("alpha", 1),
                       .beta = view.get_float("beta", 1)});
}

constexpr Kernel kKernels[] = {
    {.domain = "", .op = "MatMul", .compile = compile_matmul},
    {.domain = "", .op = "Gemm", .compile = compile_gemm},
    {.domain = "com.microsoft", .op = "FusedMatMul", .compile = compile_matmul},
    {.domain = "com.microsoft", .op = "TransposeMatMul", .compile = compile_matmul},
    {.domain = "com.microsoft", .op = "FusedGemm", .compile = compile_gemm},
};

}  // namespace

std::span<const Kernel> matmul_kernels() { return kKernels; }

}  // namespace mlopt::cpu
