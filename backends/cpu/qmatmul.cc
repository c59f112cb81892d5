// Products of 8 bit matrices: QLinearMatMul, MatMulInteger, and com.microsoft's MatMulIntegerToFloat,
// DynamicQuantizeMatMul and QGemm. The sums come from ByteProduct; scales, bias and rounding are a pass over them.
#include <algorithm>
#include <optional>
#include <utility>

#include "backends/cpu/byte_product.h"
#include "backends/cpu/dynamic_quantize.h"
#include "backends/cpu/kernels.h"
#include "backends/cpu/planned.h"
#include "backends/cpu/rows.h"
#include "core/base/parallel.h"

namespace mlopt::cpu {
namespace {

/// Which input is what; -1: the operator has none.
struct Form {
  int a = 0, b = 1, a_scale = -1, a_zero = -1, b_scale = -1, b_zero = -1, bias = -1, scale = -1, zero = -1;
};
constexpr Form kQLinearMatMul{.b = 3, .a_scale = 1, .a_zero = 2, .b_scale = 4, .b_zero = 5, .scale = 6, .zero = 7};
constexpr Form kMatMulInteger{.a_zero = 2, .b_zero = 3};
constexpr Form kIntegerToFloat{.a_scale = 2, .a_zero = 4, .b_scale = 3, .b_zero = 5, .bias = 6};
constexpr Form kDynamic{.b_scale = 2, .b_zero = 3, .bias = 4};
constexpr Form kQGemm{.b = 3, .a_scale = 1, .a_zero = 2, .b_scale = 4, .b_zero = 5, .bias = 6, .scale = 7, .zero = 8};

struct Shared {
  Form form;
  bool swap_b = false;
  float alpha = 1;
  std::optional<RightMatrix> right = {};  ///< absent: not constant
};

const Tensor* given(const Call& call, int i) { return i >= 0 && call.has(i) ? &call.in(i) : nullptr; }

int32_t zero_of(const Tensor* zero) { return zeros_in(zero)[0]; }

/// One number, or one for each column.
bool is_row(const Tensor* t, int64_t n, std::initializer_list<DType> types) {
  if (!t) return true;
  const bool typed = std::find(types.begin(), types.end(), t->dtype()) != types.end();
  return typed && (t->size() == 1 || (t->size() == n && t->dims().back() == n));
}

bool is_single(const Tensor* t, std::initializer_list<DType> types) { return is_row(t, 1, types); }

/// Do scales, zero points and the bias have shapes and types that finish() knows?
bool fits(const Form& f, const Call& call, int64_t n, bool constant_right) {
  const auto bytes = {DType::kU8, DType::kI8};
  const auto floats = {DType::kF32};
  return is_single(given(call, f.a_scale), floats) && is_single(given(call, f.a_zero), bytes) &&
         is_row(given(call, f.b_scale), n, floats) && is_row(given(call, f.b_zero), constant_right ? n : 1, bytes) &&
         is_single(given(call, f.scale), floats) && is_single(given(call, f.zero), bytes) &&
         is_row(given(call, f.bias), n, {DType::kF32, DType::kI32});
}

/// y = sum factor + offset for each column, in output steps when the output is quantized.
struct Finish {
  std::vector<float> factors, offsets;
  int32_t zero = 0;
};

Finish finish_of(const Shared& s, const Call& call, float a_scale, int64_t n) {
  const Tensor *scale = given(call, s.form.b_scale), *bias = given(call, s.form.bias), *out = given(call, s.form.scale);
  Finish f{std::vector<float>(static_cast<size_t>(n)), std::vector<float>(static_cast<size_t>(n), 0.0f),
           zero_of(given(call, s.form.zero))};
  const float step = out ? *out->data<float>() : 1.0f;
  for (int64_t i = 0; i < n; ++i) {
    const auto c = static_cast<size_t>(i);
    const float product = a_scale * (scale ? scale->data<float>()[scale->size() == 1 ? 0 : i] : 1.0f);
    f.factors[c] = s.alpha * product / step;
    if (!bias) continue;
    const int64_t at = bias->size() == 1 ? 0 : i;
    const bool real = bias->dtype() == DType::kF32;
    f.offsets[c] = (real ? bias->data<float>()[at] : static_cast<float>(bias->data<int32_t>()[at]) * product) / step;
  }
  return f;
}

void finish_rows(const Finish& f, float* sums, Tensor& out) {
  const auto n = static_cast<int64_t>(f.factors.size());
  const bool quantized = out.dtype() != DType::kF32;
  const MutableBytes y = bytes_of(out);
  parallel_for(out.size() / n, std::max<int64_t>(1, 32768 / n), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      float* x = sums + row * n;
      if (quantized)
        requantize(x, y.at(row * n), n, f.factors.data(), f.offsets.data(), f.zero);
      else
        normalize_row(x, x, n, 0, 1, f.factors.data(), f.offsets.data());
    }
  });
}

struct Source {
  LeftMatrix matrix;
  float scale;
};

/// The left matrix as the call has it, or quantized here.
Source source_of(const Form& f, const Call& call, Workspace& space) {
  const Tensor& a = call.in(f.a);
  if (a.dtype() == DType::kF32) {
    const Stepping steps = dynamic_stepping(a);
    auto* bytes = reinterpret_cast<uint8_t*>(space.take(static_cast<size_t>(a.size())));
    quantize_all(a, steps, bytes);
    return {{{bytes, false}, steps.zero}, steps.scale};
  }
  const Tensor* scale = given(call, f.a_scale);
  return {{bytes_of(a), zero_of(given(call, f.a_zero))}, scale ? *scale->data<float>() : 1.0f};
}

Step run_scaled(const std::shared_ptr<Shared>& s, const Product& p, const ByteProduct& product) {
  return [=](Call& call) {
    Workspace space;
    const Form& f = s->form;
    const Source a = source_of(f, call, space);
    const LeftMatrix b{bytes_of(call.in(f.b)), zero_of(given(call, f.b_zero))};
    const Tensor* zero = given(call, f.zero);
    const bool quantized = given(call, f.scale) != nullptr;
    const Finish finish = finish_of(*s, call, a.scale, p.n());
    Tensor& out = call.make(0, !quantized ? DType::kF32 : zero ? zero->dtype() : call.in(f.a).dtype(), p.result);
    float* sums = quantized ? reinterpret_cast<float*>(space.take(static_cast<size_t>(out.size()) * sizeof(float)))
                            : out.mutable_data<float>();
    product.run(a.matrix, b, sums, space);
    finish_rows(finish, sums, out);
  };
}

Expected<Step> plan(const std::shared_ptr<Shared>& s, const Call& call) {
  const Form& f = s->form;
  const Tensor &a = call.in(f.a), &b = call.in(f.b);
  const bool dynamic = f.a_scale < 0 && f.b_scale >= 0, exact = f.b_scale < 0;
  if (dynamic ? a.dtype() != DType::kF32 : !is_bytes(a.dtype())) return Decline{"the left operand has another type"};
  if (!is_bytes(b.dtype())) return Decline{"the right operand is not of 8 bits"};
  const auto p = product_of(a.dims(), b.dims(), false, s->swap_b);
  if (!p) return p.error();
  const bool constant = s->right && p->b.size() == 2;
  if (!fits(f, call, p->n(), constant)) return Decline{"scales by row, or in another type"};
  const DType left = dynamic ? DType::kU8 : a.dtype();
  if (!constant && (s->swap_b || exact)) return Decline{"the right operand is not constant"};
  const auto product = !constant ? ByteProduct::plan(*p)
                       : exact   ? ByteProduct::plan_exact(*p, left, *s->right)
                                 : ByteProduct::plan(*p, left, *s->right);
  if (!product) return product.error();
  if (!exact) return run_scaled(s, *p, *product);
  return Step([s, p = *p, product = *product](Call& c) {
    Workspace space;
    const LeftMatrix left_matrix = source_of(s->form, c, space).matrix;
    product.run(left_matrix, c.make(0, DType::kI32, p.result).mutable_raw(), space);
  });
}

Expected<Step> compile_form(const NodeView& view, const CompileContext& context, const Form& form) {
  if (view.get_int("transA", 0) != 0) return Decline{"the left operand is swapped"};
  Shared s{.form = form, .swap_b = view.get_int("transB", 0) != 0, .alpha = view.get_float("alpha", 1)};
  const Tensor* b = packable(view, form.b, context);
  const Value* zero = view.node().input(form.b_zero);
  if (b && b->rank() == 2 && b->size() > 0 && is_bytes(b->dtype()) && (!zero || zero->known_constant()))
    s.right = RightMatrix{byte_weights(*b, zero ? zero->known_constant() : nullptr), s.swap_b};
  auto shared = std::make_shared<Shared>(std::move(s));
  return planned(view, context, [shared](const Call& call) { return plan(shared, call); });
}

template <const Form& form>
Expected<Step> compile(const NodeView& view, const CompileContext& context) {
  return compile_form(view, context, form);
}

constexpr Kernel kKernels[] = {
    {.domain = "", .op = "QLinearMatMul", .compile = compile<kQLinearMatMul>},
    {.domain = "", .op = "MatMulInteger", .compile = compile<kMatMulInteger>},
    {.domain = "com.microsoft", .op = "MatMulIntegerToFloat", .compile = compile<kIntegerToFloat>},
    {.domain = "com.microsoft", .op = "DynamicQuantizeMatMul", .compile = compile<kDynamic>},
    {.domain = "com.microsoft", .op = "QGemm", .compile = compile<kQGemm>},
};

}  // namespace

std::span<const Kernel> qmatmul_kernels() { return kKernels; }

}  // namespace mlopt::cpu
