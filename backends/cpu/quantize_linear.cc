// QuantizeLinear, DequantizeLinear and DynamicQuantizeLinear between float32 and 8 bits.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "backends/cpu/bytes.h"
#include "backends/cpu/dynamic_quantize.h"
#include "backends/cpu/kernels.h"
#include "backends/cpu/planned.h"
#include "backends/cpu/reduce.h"
#include "core/base/parallel.h"

namespace mlopt::cpu {
namespace {

constexpr int64_t kGrain = 32768;  // elements below which a second thread costs more than it brings

/// A tensor whose elements along the middle axis have their own scale and zero point (one for all: length 1).
Expected<Middle> scaled_along(const Call& call, int64_t axis) {
  const Dims &x = call.in(0).dims(), &scale = call.in(1).dims();
  if (call.in(1).dtype() != DType::kF32) return Decline{"the scale is not float32"};
  if (call.has(2) && call.in(2).dims() != scale) return Decline{"scale and zero point differ in shape"};
  if (call.in(1).size() == 1 && scale.size() <= 1) return Middle{1, 1, call.in(0).size()};
  if (scale.size() != 1 || x.empty()) return Decline{"scales for blocks"};
  const auto at = static_cast<size_t>(normalize_axis(axis, static_cast<int64_t>(x.size())));
  if (x[at] != scale[0]) return Decline{"scales do not fit the axis"};
  return around(x, at);
}

int32_t zero_at(const Call& call, int64_t i) {
  if (!call.has(2)) return 0;
  const Tensor& zero = call.in(2);
  return zero.dtype() == DType::kI8 ? zero.data<int8_t>()[i] : zero.data<uint8_t>()[i];
}

/// fn(first element, count, scale, zero point) for runs that cover the tensor.
template <class Fn>
void for_runs(const Middle& m, const Call& call, const Fn& fn) {
  const float* scale = call.in(1).data<float>();
  if (m.length == 1) {
    parallel_for(m.inner, kGrain,
                 [&](int64_t begin, int64_t end) { fn(begin, end - begin, scale[0], zero_at(call, 0)); });
    return;
  }
  parallel_for(m.outer * m.length, std::max<int64_t>(1, kGrain / m.inner), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) fn(i * m.inner, m.inner, scale[i % m.length], zero_at(call, i % m.length));
  });
}

Expected<Step> compile_quantize(const NodeView& view, const CompileContext& context) {
  if (const auto no = wrong_type(view, 0, {DType::kF32})) return *no;
  if (const auto no = wrong_type(view, 2, {DType::kU8, DType::kI8})) return *no;
  if (view.get_int("block_size", 0) != 0) return Decline{"scales for blocks"};
  const auto asked = static_cast<DType>(view.get_int("output_dtype", 0));
  const int64_t axis = view.get_int("axis", 1);
  return planned(view, context, [=](const Call& call) -> Expected<Step> {
    const DType type = call.has(2) ? call.in(2).dtype() : asked == DType::kUndefined ? DType::kU8 : asked;
    if (call.in(0).dtype() != DType::kF32 || !is_bytes(type)) return Decline{"not from float32 to 8 bits"};
    const auto m = scaled_along(call, axis);
    if (!m) return m.error();
    return Step([type, m = *m](Call& c) {
      const float* x = c.in(0).data<float>();
      const MutableBytes y = bytes_of(c.make(0, type, c.in(0).dims()));
      for_runs(m, c, [&](int64_t first, int64_t count, float scale, int32_t zero) {
        quantize(x + first, y.at(first), count, scale, zero);
      });
    });
  });
}

Expected<Step> compile_dequantize(const NodeView& view, const CompileContext& context) {
  if (const auto no = wrong_type(view, 0, {DType::kU8, DType::kI8})) return *no;
  if (const auto no = wrong_type(view, 1, {DType::kF32})) return *no;
  if (view.get_int("block_size", 0) != 0) return Decline{"scales for blocks"};
  const int64_t asked = view.get_int("output_dtype", 0);
  if (asked != 0 && asked != static_cast<int64_t>(DType::kF32)) return Decline{"not to float32"};
  const int64_t axis = view.get_int("axis", 1);
  return planned(view, context, [axis](const Call& call) -> Expected<Step> {
    if (!is_bytes(call.in(0).dtype())) return Decline{"not 8 bits"};
    if (call.has(2) && call.in(2).dtype() != call.in(0).dtype()) return Decline{"the zero point has another type"};
    const auto m = scaled_along(call, axis);
    if (!m) return m.error();
    return Step([m = *m](Call& c) {
      const Bytes x = bytes_of(c.in(0));
      float* y = c.make(0, DType::kF32, c.in(0).dims()).mutable_data<float>();
      for_runs(m, c, [&](int64_t first, int64_t count, float scale, int32_t zero) {
        dequantize(x.at(first), y + first, count, scale, zero);
      });
    });
  });
}

/// The smallest or the largest element, on the threads of the plan.
float extreme(Fold op, const Tensor& x) {
  const int64_t pieces = std::max<int64_t>(1, x.size() / kGrain), piece = (x.size() + pieces - 1) / pieces;
  std::vector<float> found(static_cast<size_t>(pieces), identity(op));
  parallel_for(pieces, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      found[static_cast<size_t>(i)] =
          fold_row(op, x.data<float>() + i * piece, std::clamp<int64_t>(x.size() - i * piece, 0, piece));
  });
  return fold_row(op, found.data(), pieces);
}

}  // namespace

Stepping dynamic_stepping(const Tensor& x) {
  const float low = std::min(0.0f, extreme(Fold::kMin, x)), high = std::max(0.0f, extreme(Fold::kMax, x));
  constexpr float kSteps = 255;
  const float step = (high - low) / kSteps, scale = step > 0 ? step : 1.0f;  // zeros keep a scale to divide by
  return {scale, static_cast<int32_t>(std::nearbyint(std::clamp(-low / scale, 0.0f, kSteps)))};
}

void quantize_all(const Tensor& x, const Stepping& steps, uint8_t* out) {
  parallel_for(x.size(), kGrain, [&](int64_t begin, int64_t end) {
    quantize(x.data<float>() + begin, {out + begin, false}, end - begin, steps.scale, steps.zero);
  });
}

namespace {

void dynamic_quantize(Call& call) {
  const Tensor& x = call.in(0);
  const Stepping steps = dynamic_stepping(x);
  quantize_all(x, steps, call.make(0, DType::kU8, x.dims()).mutable_data<uint8_t>());
  call.set(1, Tensor::scalar(steps.scale));
  call.set(2, Tensor::scalar(static_cast<uint8_t>(steps.zero)));
}

Expected<Step> compile_dynamic(const NodeView& view, const CompileContext& context) {
  return planned(view, context, [](const Call& call) -> Expected<Step> {
    if (call.in(0).dtype() != DType::kF32) return Decline{"not float32"};
    return Step(dynamic_quantize);
  });
}

constexpr Kernel kKernels[] = {
    {.domain = "", .op = "QuantizeLinear", .compile = compile_quantize},
    {.domain = "", .op = "DequantizeLinear", .compile = compile_dequantize},
    {.domain = "", .op = "DynamicQuantizeLinear", .compile = compile_dynamic},
    {.domain = "com.microsoft", .op = "QuantizeLinear", .compile = compile_quantize},
    {.domain = "com.microsoft", .op = "DequantizeLinear", .compile = compile_dequantize},
};

}  // namespace

std::span<const Kernel> quantize_linear_kernels() { return kKernels; }

}  // namespace mlopt::cpu
