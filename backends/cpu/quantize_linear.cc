// QuantizeLinear, DequantizeLinear and DynamicQuantizeLinear between float32 and 8 bits.
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "backends/cpu/bytes.h"
#include "backends/cpu/dynamic_quantize.h"
#include "backends/cpu/kernels.h"
#include "backends/cpu/reduce.h"
#include "core/base/parallel.h"

namespace mlopt::cpu {
namespace {

constexpr int64_t kGrain = 32768;  // elements below which a second thread costs more than it brings

/// A tensor whose elements along the middle axis have their own scale and zero point (one for all: length 1).
struct Scaled {
  Middle along;
  bool has_zero, is_signed;

  Steps read(const Buffers& b, int64_t i) const {
    const int32_t zero = !has_zero ? 0 : is_signed ? b.in<int8_t>(2)[i] : b.in<uint8_t>(2)[i];
    return {b.in<float>(1)[i], zero};
  }
};

/// Runs of the last axis have their own.
Expected<Middle> blocks_of(const Site& site) {
  const TensorDesc &x = site.desc(0), &scale = site.desc(1);
  const int64_t block = site.view.get_int("block_size", 0), last = std::ssize(x.dims) - 1;
  if (last < 0 || block <= 0 || x.dims.back() % block != 0 || x.layout != mlopt::Layout::kRowMajor ||
      normalize_axis(site.view.get_int("axis", 1), last + 1) != last)
    return Decline{"its blocks are no equal parts of the last axis"};
  Dims dims = x.dims;
  dims.back() /= block;
  if (scale.dims != dims) return Decline{"scales do not fit the blocks"};
  return Middle{1, scale.size(), block};
}

Expected<Scaled> scaled_by(const Site& site, DType stored) {
  const TensorDesc &x = site.desc(0), &scale = site.desc(1);
  if (!is_bytes(stored)) return Decline{"not 8 bits"};
  if (scale.dtype != DType::kF32) return Decline{"the scale is not float32"};
  if (site.has(2) && (site.desc(2).dims != scale.dims || site.desc(2).dtype != stored))
    return Decline{"scale and zero point differ in shape, or the zero point from the numbers in type"};
  Scaled s{{1, 1, x.size()}, site.has(2), stored == DType::kI8};
  if (site.view.get_int("block_size", 0) != 0) {
    const auto blocks = blocks_of(site);
    if (!blocks) return blocks.error();
    s.along = *blocks;
    return s;
  }
  if (scale.size() == 1 && scale.dims.size() <= 1) return s;
  if (scale.dims.size() != 1 || x.dims.empty()) return Decline{"scales for blocks"};
  if (x.layout != mlopt::Layout::kRowMajor) return Decline{"scales along an axis that lies elsewhere"};
  const auto at =
      static_cast<size_t>(normalize_axis(site.view.get_int("axis", 1), static_cast<int64_t>(x.dims.size())));
  if (x.dims[at] != scale.dims[0]) return Decline{"scales do not fit the axis"};
  s.along = around(x.dims, at);
  return s;
}

/// fn(first element, count, steps) for runs that cover the tensor.
template <class Fn>
void for_runs(const Scaled& s, const Buffers& b, const Fn& fn) {
  const Middle& m = s.along;
  if (m.length == 1) {
    const Steps steps = s.read(b, 0);
    return parallel_for(m.outer * m.inner, kGrain, [&](int64_t begin, int64_t end) { fn(begin, end - begin, steps); });
  }
  parallel_for(m.outer * m.length, std::max<int64_t>(1, kGrain / m.inner), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) fn(i * m.inner, m.inner, s.read(b, i % m.length));
  });
}

Expected<PlannedStep> plan_quantize(const Site& site) {
  const TensorDesc& x = site.desc(0);
  if (x.dtype != DType::kF32) return Decline{"not from float32"};
  const auto asked = static_cast<DType>(site.view.get_int("output_dtype", 0));
  const DType type = site.has(2) ? site.desc(2).dtype : asked == DType::kUndefined ? DType::kU8 : asked;
  const auto scaled = scaled_by(site, type);
  if (!scaled) return scaled.error();
  PlannedStep step{.out = {{type, x.dims, x.layout}}};
  step.run = [s = *scaled](const Buffers& b) {
    const MutableBytes y{b.out<std::byte>(0), s.is_signed};
    for_runs(s, b, [&](int64_t first, int64_t count, const Steps& steps) {
      quantize(b.in<float>(0) + first, y.at(first), count, steps.scale, steps.zero);
    });
  };
  return step;
}

Expected<PlannedStep> plan_dequantize(const Site& site) {
  const TensorDesc& x = site.desc(0);
  const int64_t asked = site.view.get_int("output_dtype", 0);
  if (asked != 0 && asked != static_cast<int64_t>(DType::kF32)) return Decline{"not to float32"};
  const auto scaled = scaled_by(site, x.dtype);
  if (!scaled) return scaled.error();
  PlannedStep step{.out = {{DType::kF32, x.dims, x.layout}}};
  step.run = [s = *scaled](const Buffers& b) {
    const Bytes in{b.in<std::byte>(0), s.is_signed};
    for_runs(s, b, [&](int64_t first, int64_t count, const Steps& steps) {
      dequantize(in.at(first), b.out<float>(0) + first, count, steps.scale, steps.zero);
    });
  };
  return step;
}

/// The smallest or the largest number; NaN is none.
float extreme_number(Fold op, const float* x, int64_t count) {
  const float found = fold_row(op, x, count);
  if (!std::isnan(found)) return found;
  return std::accumulate(x, x + count, identity(op),
                         [op](float a, float b) { return op == Fold::kMin ? std::fmin(a, b) : std::fmax(a, b); });
}

/// That of all elements, on the threads of the plan.
float extreme(Fold op, const float* x, int64_t count) {
  constexpr int64_t kMost = 256;
  const int64_t pieces = std::clamp<int64_t>(count / kGrain, 1, kMost), piece = (count + pieces - 1) / pieces;
  std::array<float, kMost> found;
  parallel_for(pieces, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      found[static_cast<size_t>(i)] =
          extreme_number(op, x + i * piece, std::clamp<int64_t>(count - i * piece, 0, piece));
  });
  return fold_row(op, found.data(), pieces);
}

}  // namespace

Steps dynamic_steps(const float* x, int64_t count) {
  const float low = std::min(0.0f, extreme(Fold::kMin, x, count)), high = std::max(0.0f, extreme(Fold::kMax, x, count));
  constexpr float kSteps = 255;
  const float step = (high - low) / kSteps, scale = step > 0 ? step : 1.0f;  // zeros keep a scale to divide by
  const float zero = std::isinf(scale) ? (std::isinf(low) ? kSteps : 0) : std::clamp(-low / scale, 0.0f, kSteps);
  return {scale, static_cast<int32_t>(std::nearbyint(zero))};
}

void quantize_all(const float* x, int64_t count, const Steps& steps, uint8_t* out) {
  parallel_for(count, kGrain, [&](int64_t begin, int64_t end) {
    quantize(x + begin, {out + begin, false}, end - begin, steps.scale, steps.zero);
  });
}

namespace {

Expected<PlannedStep> plan_dynamic(const Site& site) {
  const TensorDesc& x = site.desc(0);
  if (x.dtype != DType::kF32) return Decline{"not float32"};
  PlannedStep step{.out = {{DType::kU8, x.dims, x.layout}, {DType::kF32, {}}, {DType::kU8, {}}}};
  step.run = [count = x.size()](const Buffers& b) {
    const Steps steps = dynamic_steps(b.in<float>(0), count);
    quantize_all(b.in<float>(0), count, steps, b.out<uint8_t>(0));
    *b.out<float>(1) = steps.scale;
    *b.out<uint8_t>(2) = static_cast<uint8_t>(steps.zero);
  };
  return step;
}

constexpr Kernel kKernels[] = {
    {.domain = "", .op = "QuantizeLinear", .plan = plan_quantize, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "DequantizeLinear", .plan = plan_dequantize, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "DynamicQuantizeLinear", .plan = plan_dynamic, .layout = LayoutRule::kFollows},
    {.domain = "com.microsoft", .op = "QuantizeLinear", .plan = plan_quantize, .layout = LayoutRule::kFollows},
    {.domain = "com.microsoft", .op = "DequantizeLinear", .plan = plan_dequantize, .layout = LayoutRule::kFollows},
};

}  // namespace

std::span<const Kernel> quantize_linear_kernels() { return kKernels; }

}  // namespace mlopt::cpu
