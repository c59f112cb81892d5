// Products of 8 bit matrices: QLinearMatMul, MatMulInteger, and com.microsoft's MatMulIntegerToFloat,
// DynamicQuantizeMatMul and QGemm.
#include <algorithm>

#include "backends/cpu/byte_product.h"
#include "backends/cpu/dynamic_quantize.h"
#include "backends/cpu/kernels.h"
#include "core/base/align.h"

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

const TensorDesc* given(const Site& site, int i) { return i >= 0 && site.has(i) ? &site.desc(i) : nullptr; }

/// One number, or one for each column.
bool is_row(const TensorDesc* t, int64_t n, std::initializer_list<DType> types) {
  if (!t) return true;
  const bool typed = std::find(types.begin(), types.end(), t->dtype) != types.end();
  return typed && (t->size() == 1 || (t->size() == n && t->dims.back() == n));
}

bool is_single(const TensorDesc* t, std::initializer_list<DType> types) { return is_row(t, 1, types); }

/// Do scales, zero points and the bias have shapes and types that a run knows?
bool fits(const Form& f, const Site& site, int64_t n, bool constant_right) {
  const auto bytes = {DType::kU8, DType::kI8};
  const auto floats = {DType::kF32};
  return is_single(given(site, f.a_scale), floats) && is_single(given(site, f.a_zero), bytes) &&
         is_row(given(site, f.b_scale), n, floats) && is_row(given(site, f.b_zero), constant_right ? n : 1, bytes) &&
         is_single(given(site, f.scale), floats) && is_single(given(site, f.zero), bytes) &&
         is_row(given(site, f.bias), n, {DType::kF32, DType::kI32});
}

/// An input that a run reads a number from, or a row of them; what it is where the node has none.
struct Numbers {
  int input = -1;
  DType type = DType::kF32;
  bool is_single = true;

  Numbers(const Site& site, int i) {
    const TensorDesc* desc = given(site, i);
    if (desc) *this = Numbers(i, desc->dtype, desc->size() == 1);
  }
  Numbers(int i, DType dtype, bool single) : input(i), type(dtype), is_single(single) {}

  float scale(const Buffers& b, int64_t i) const { return input < 0 ? 1.0f : b.in<float>(input)[is_single ? 0 : i]; }
  int32_t zero(const Buffers& b) const {
    if (input < 0) return 0;
    return type == DType::kI8 ? *b.in<int8_t>(input) : *b.in<uint8_t>(input);
  }
};

/// y = sum factor + offset for each column, in output steps when the output is quantized.
struct Scaling {
  Numbers a_scale, b_scale, bias, scale;
  float alpha;
  int64_t n;

  size_t bytes() const { return 2 * aligned_size(static_cast<size_t>(n + ByteFinish::kSlack) * sizeof(float)); }

  /// The bias is float32, or in steps of the product.
  void read(const Buffers& b, float left_scale, float* factors, float* offsets) const {
    const float step = scale.scale(b, 0), whole = left_scale / step;
    for (int64_t i = 0; i < n; ++i) {
      factors[i] = alpha * whole * b_scale.scale(b, i);
      offsets[i] = 0;
      if (bias.input < 0) continue;
      const int64_t at = bias.is_single ? 0 : i;
      offsets[i] = bias.type == DType::kF32 ? b.in<float>(bias.input)[at] / step
                                            : static_cast<float>(b.in<int32_t>(bias.input)[at]) * factors[i];
    }
  }
};

/// The right operand, and whether it is one constant matrix.
ByteRight right_of(const Site& site, const Form& f, bool swapped) {
  ByteRight right{.input = f.b, .type = site.desc(f.b).dtype, .swapped = swapped};
  const Tensor* constant = site.constant(f.b);
  const Tensor* zero = site.has(f.b_zero) ? site.view.constant(f.b_zero) : nullptr;
  const bool known_zero = f.b_zero < 0 || !site.has(f.b_zero) || zero;
  if (!constant || constant->rank() != 2 || !known_zero) return right;
  right.constant = constant;
  right.zeros = zeros_in(zero);
  return right;
}

std::function<void(const Buffers&)> runner(const Site& site, const Form& f, const ByteProduct& product,
                                           const ByteLeft& left, const Scaling& scaling, ByteFinish finish,
                                           size_t scaling_at) {
  const int64_t left_count = site.desc(f.a).size();
  const Numbers left_zero(site, f.a_zero), right_zero(site, f.b_zero), zero(site, f.zero);
  return [=, source = f.a](const Buffers& b) {
    Steps steps{scaling.a_scale.scale(b, 0), left_zero.zero(b)};
    if (left.input < 0) {
      steps = dynamic_steps(b.in<float>(source), left_count);
      quantize_all(b.in<float>(source), left_count, steps, reinterpret_cast<uint8_t*>(b.scratch + left.at));
    }
    ByteFinish own = finish;
    own.out = b.out<std::byte>(0);
    if (finish.kind != ByteFinish::Kind::kSums) {
      auto* factors = reinterpret_cast<float*>(b.scratch + scaling_at);
      float* offsets = factors + scaling.bytes() / (2 * sizeof(float));
      scaling.read(b, steps.scale, factors, offsets);
      own.factors = factors;
      own.offsets = offsets;
      own.zero = zero.zero(b);
    }
    product.run(b, steps.zero, product.packs_right() ? 0 : right_zero.zero(b), own);
  };
}

Expected<PlannedStep> plan_form(const Site& site, const Form& f) {
  if (site.view.get_int("transA", 0) != 0) return Decline{"the left operand is swapped"};
  const bool swapped = site.view.get_int("transB", 0) != 0;
  const TensorDesc &a = site.desc(f.a), &b = site.desc(f.b);
  const bool dynamic = f.a_scale < 0 && f.b_scale >= 0, exact = f.b_scale < 0;
  if (dynamic ? a.dtype != DType::kF32 : !is_bytes(a.dtype)) return Decline{"the left operand has another type"};
  if (!is_bytes(b.dtype)) return Decline{"the right operand is not of 8 bits"};
  const auto p = product_of(a.dims, b.dims, false, swapped);
  if (!p) return p.error();
  const ByteRight right = right_of(site, f, swapped);
  if (!fits(f, site, p->n(), right.constant != nullptr)) return Decline{"scales by row, or in another type"};
  const bool quantized = given(site, f.scale) != nullptr;
  const TensorDesc* zero = given(site, f.zero);
  const DType type = exact ? DType::kI32 : !quantized ? DType::kF32 : zero ? zero->dtype : a.dtype;
  ByteFinish finish{.kind = exact       ? ByteFinish::Kind::kSums
                            : quantized ? ByteFinish::Kind::kBytes
                                        : ByteFinish::Kind::kFloats};
  finish.is_signed = type == DType::kI8;

  const Scaling scaling{
      {site, f.a_scale}, {site, f.b_scale}, {site, f.bias}, {site, f.scale}, site.view.get_float("alpha", 1), p->n()};
  const ByteLeft left{dynamic ? DType::kU8 : a.dtype, dynamic ? -1 : f.a, scaling.bytes()};
  const size_t taken = scaling.bytes() + (dynamic ? aligned_size(static_cast<size_t>(a.size())) : 0);
  const ByteProduct product(*p, left, right, site, taken);
  PlannedStep step{.out = {{type, p->result}}};
  step.scratch_bytes = product.scratch_bytes();
  step.label = product.label();
  if (product.packs_right()) step.packed = {f.b};
  step.packed_bytes = product.packed_bytes();
  step.run = runner(site, f, product, left, scaling, finish, 0);
  return step;
}

template <const Form& form>
Expected<PlannedStep> plan(const Site& site) {
  return plan_form(site, form);
}

constexpr Kernel kKernels[] = {
    {.domain = "", .op = "QLinearMatMul", .plan = guarded<plan<kQLinearMatMul>>},
    {.domain = "", .op = "MatMulInteger", .plan = guarded<plan<kMatMulInteger>>},
    {.domain = "com.microsoft", .op = "MatMulIntegerToFloat", .plan = guarded<plan<kIntegerToFloat>>},
    {.domain = "com.microsoft", .op = "DynamicQuantizeMatMul", .plan = guarded<plan<kDynamic>>},
    {.domain = "com.microsoft", .op = "QGemm", .plan = guarded<plan<kQGemm>>},
};

}  // namespace

std::span<const Kernel> qmatmul_kernels() { return kKernels; }

}  // namespace mlopt::cpu
