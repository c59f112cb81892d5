// QuantizeLinear, DequantizeLinear and DynamicQuantizeLinear.
#include "backends/gpu/integer.h"
#include "backends/gpu/kernels.h"

namespace mlopt::gpu {
namespace {

enum Input { kSource, kScale, kZero };

Expected<Codes> codes_of(DType type) {
  if (is_integer(type) && bits(type) <= 32) return Codes{bits(type), is_signed(type)};
  if (const auto small = float8_of(type)) return Codes{8, true, small->exponent};
  if (type == DType::kF4E2M1) return Codes{4, true, 2};
  return Decline{"codes that are neither integers of up to 32 bits nor floats of 8 or 4"};
}

/// How the scales spread over x: the shapes are checked.
Expected<ScaleMap> map_of(const Site& site) {
  const Dims &x = site.desc(kSource).dims, &scale = site.desc(kScale).dims;
  if (!is_countable(site.desc(kSource))) return Decline{"more elements than kernels count"};
  ScaleMap map;
  if (element_count(scale) == 1 && (!site.has(kZero) || site.desc(kZero).size() == 1)) return map;
  if (site.has(kZero) && site.desc(kZero).dims != scale) return Decline{"scales and zero points differ in shape"};
  const auto rank = static_cast<int64_t>(x.size());
  const auto axis = static_cast<size_t>(normalize_axis(site.view.get_int("axis", 1), rank));
  const Middle m = around(x, axis, axis + 1);
  map.length = Divider(m.length);
  map.inner = Divider(m.inner);
  const int64_t block = site.view.get_int("block_size", 0);
  if (block == 0) {
    if (element_count(scale) != m.length) return Decline{"the scales do not fit"};
    map.axis_step = 1;
    return map;
  }
  Dims blocked = x;
  if (block < 0 || block > m.length) return Decline{"the blocks do not fit"};
  blocked[axis] = (m.length + block - 1) / block;
  if (scale != blocked) return Decline{"the scales do not fit"};
  map.block = Divider(block);
  map.outer_step = static_cast<int32_t>(blocked[axis] * m.inner);
  map.axis_step = static_cast<int32_t>(m.inner);
  map.inner_step = 1;
  return map;
}

Expected<PlannedStep> plan_quantize(const Site& site) {
  const TensorDesc& x = site.desc(kSource);
  const auto named = static_cast<DType>(site.view.get_int("output_dtype", 0));
  const DType made = site.has(kZero) ? site.desc(kZero).dtype : named != DType::kUndefined ? named : DType::kU8;
  const auto type = float_of(x.dtype), scale_type = float_of(site.desc(kScale).dtype);
  const auto codes = codes_of(made);
  const auto map = map_of(site);
  if (!type || !scale_type) return Decline{"numbers or scales that are not float32, float16 or bfloat16"};
  if (!codes || !map) return codes ? map.error() : codes.error();
  const auto precision = static_cast<DType>(site.view.get_int("precision", 0));
  if (codes->exponent > 0 && site.view.get_int("saturate", 1) == 0) return Decline{"what is too large becomes NaN"};
  if (precision != DType::kUndefined && precision != site.desc(kScale).dtype) return Decline{"another precision"};
  PlannedStep step{.out = {{made, x.dims}}};
  step.run = [args = QuantizeArgs{*type, *scale_type, *codes, *map, x.size(), nullptr, nullptr, nullptr, nullptr},
              zero = site.has(kZero)](const Buffers& b) {
    QuantizeArgs now = args;
    now.in = b.in<void>(kSource);
    now.scale = b.in<void>(kScale);
    now.zero = zero ? b.in<void>(kZero) : nullptr;
    now.out = b.out<void>(0);
    launch(b, &Kernels::quantize, now);
  };
  return step;
}

Expected<PlannedStep> plan_dequantize(const Site& site) {
  const TensorDesc& x = site.desc(kSource);
  const auto named = static_cast<DType>(site.view.get_int("output_dtype", 0));
  const DType made = named != DType::kUndefined ? named : site.desc(kScale).dtype;
  const auto type = float_of(made), scale_type = float_of(site.desc(kScale).dtype);
  const auto codes = codes_of(x.dtype);
  const auto map = map_of(site);
  if (!type || !scale_type) return Decline{"scales or outputs that are not float32, float16 or bfloat16"};
  if (!codes || !map) return codes ? map.error() : codes.error();
  if (site.has(kZero) && site.desc(kZero).dtype != x.dtype) return Decline{"a zero point of another type"};
  PlannedStep step{.out = {{made, x.dims}}};
  step.run = [args = DequantizeArgs{*type, *scale_type, *codes, *map, x.size(), nullptr, nullptr, nullptr, nullptr},
              zero = site.has(kZero)](const Buffers& b) {
    DequantizeArgs now = args;
    now.in = b.in<void>(kSource);
    now.scale = b.in<void>(kScale);
    now.zero = zero ? b.in<void>(kZero) : nullptr;
    now.out = b.out<void>(0);
    launch(b, &Kernels::dequantize, now);
  };
  return step;
}

Expected<PlannedStep> plan_dynamic(const Site& site) {
  const TensorDesc& x = site.desc(0);
  if (x.dtype != DType::kF32 || !is_countable(x)) return Decline{"not float32, or more elements than kernels count"};
  PlannedStep step{.out = {{DType::kU8, x.dims}, {DType::kF32, {}}, {DType::kU8, {}}}};
  const DynamicQuantize dynamic(x);
  step.scratch_bytes = dynamic.scratch_bytes();
  step.run = [dynamic](const Buffers& b) {
    dynamic.run(b, b.in<void>(0), b.scratch, b.out<void>(0), b.out<float>(1), b.out<uint8_t>(2));
  };
  return step;
}

constexpr Kernel kKernels[] = {
    {.domain = "", .op = "QuantizeLinear", .plan = plan_quantize},
    {.domain = "com.microsoft", .op = "QuantizeLinear", .plan = plan_quantize},
    {.domain = "", .op = "DequantizeLinear", .plan = plan_dequantize},
    {.domain = "com.microsoft", .op = "DequantizeLinear", .plan = plan_dequantize},
    {.domain = "", .op = "DynamicQuantizeLinear", .plan = plan_dynamic},
};

}  // namespace

/// The smallest and the largest number of each row, then of all rows, then scale and zero point, then codes.
void DynamicQuantize::run(const Buffers& b, const void* in, std::byte* scratch, void* codes, float* scale,
                          uint8_t* zero) const {
  auto* ends = reinterpret_cast<float*>(scratch);
  float* partial = ends + 2;
  const auto reduce = [&](Fold how, int64_t outer, int64_t n, const void* from, void* into) {
    launch(b, &Kernels::reduce,
           ReduceArgs{Elem::kF32, how, Before::kNothing, After::kNothing, 1, outer, n, 1, from, into});
  };
  for (const Fold how : {Fold::kMinNumber, Fold::kMaxNumber}) {
    reduce(how, rows, length, in, partial);
    reduce(how, 1, rows, partial, how == Fold::kMinNumber ? ends : ends + 1);
  }
  launch(b, &Kernels::quantized_range, RangeArgs{ends, ends + 1, scale, zero});
  launch(b, &Kernels::quantize, QuantizeArgs{Elem::kF32, Elem::kF32, {8, false}, {}, count, in, scale, zero, codes});
}

std::span<const Kernel> quantize_kernels() { return kKernels; }

}  // namespace mlopt::gpu
