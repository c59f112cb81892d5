// Products of matrices of 8-bit codes: MatMulInteger, QLinearMatMul and com.microsoft's forms.
#include "backends/gpu/integer.h"

#include <type_traits>
#include <utility>

#include "backends/gpu/kernels.h"
#include "backends/gpu/packed_codes.h"

namespace mlopt::gpu {
namespace {

/// One zero point for all, or one for each of `lines`, which are the last axis but `back`.
Expected<bool> each_of(const Site& site, int zero, int of, int64_t lines) {
  if (zero < 0 || !site.has(zero)) return false;
  const TensorDesc& z = site.desc(zero);
  if (z.dtype != site.desc(of).dtype) return Decline{"a zero point of another type"};
  if (z.size() == 1) return false;
  if (z.size() != lines) return Decline{"zero points that do not fit"};
  return true;
}

/// Scales and biases of one type, one for all columns or one for each.
bool goes_with_columns(const TensorDesc& desc, int64_t columns) { return desc.size() == 1 || desc.size() == columns; }

/// Sums by the kernel that takes codes as they lie; bz: -1 where weights have no zero point.
SumsMaker plain_product(const IntegerProduct& product, int b, int bz) {
  SumsMaker made;
  made.bytes = static_cast<size_t>(element_count(product.out)) * sizeof(int32_t);
  made.run = [args = product.args, b, bz](const Buffers& buffers, const void* codes, const void* zero,
                                          std::byte* scratch) -> CodeSums {
    IntegerProductArgs now = args;
    now.a.codes = codes;
    now.a.zero = zero;
    now.x.codes = buffers.in<void>(b);
    now.x.zero = bz >= 0 ? buffers.in<void>(bz) : nullptr;
    now.out = reinterpret_cast<int32_t*>(scratch);
    launch(buffers, &Kernels::integer_product, now);
    return {.sums = now.out};
  };
  return made;
}

SumsMaker sums_of(const Site& site, const IntegerProduct& product, int b, int bz) {
  const IntegerProductArgs& args = product.args;
  if (product.one_right && !args.a.each && !args.a_transposed)
    if (auto packed = packed_product(site, args, b, bz)) return *std::move(packed);
  return plain_product(product, b, site.has(bz) ? bz : -1);
}

Expected<PlannedStep> plan_integer(const Site& site) {
  auto product = integer_product_of(site, 0, 2, 1, 3);
  if (!product) return product.error();
  const SumsMaker sums = sums_of(site, *product, 1, 3);
  PlannedStep step = step_of({DType::kI32, product->out}, sums);
  if (!sums.packed) step.scratch_bytes = 0;
  step.run = [sums, zero = site.has(2), n = product->args.n, count = step.out[0].size()](const Buffers& b) {
    std::byte* at = sums.packed ? b.scratch : b.out<std::byte>(0);
    const CodeSums made = sums.run(b, b.in<void>(0), zero ? b.in<void>(2) : nullptr, at);
    if (sums.packed)
      launch(b, &Kernels::plain_sums, PlainSumsArgs{made, Divider(n), Divider(1), count, b.out<int32_t>(0)});
  };
  return step;
}

/// (a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero).
Expected<PlannedStep> plan_qlinear(const Site& site) {
  auto product = integer_product_of(site, 0, 2, 3, 5);
  const auto scale = float_of(site.desc(1).dtype);
  if (!product || !scale) return !product ? product.error() : scale.error();
  const TensorDesc& zero = site.desc(7);
  const int64_t columns = product->args.n;
  if (!is_byte(zero.dtype) || zero.size() != 1 || site.desc(6).size() != 1 || site.desc(1).size() != 1)
    return Decline{"an output that is no 8-bit integer, or scales for rows"};
  if (!goes_with_columns(site.desc(4), columns) || site.desc(4).dtype != site.desc(1).dtype ||
      site.desc(6).dtype != site.desc(1).dtype)
    return Decline{"scales that do not fit"};
  const SumsMaker sums = sums_of(site, *product, 3, 5);
  PlannedStep step = step_of({zero.dtype, product->out}, sums);
  const RequantizeArgs how{
      *scale, {8, zero.dtype == DType::kI8}, site.desc(4).size() > 1, Divider(columns), Divider(1), step.out[0].size()};
  step.run = [sums, how](const Buffers& b) {
    RequantizeArgs then = how;
    then.sums = sums.run(b, b.in<void>(0), b.in<void>(2), b.scratch);
    then.a_scale = b.in<void>(1), then.b_scale = b.in<void>(4), then.y_scale = b.in<void>(6), then.zero = b.in<void>(7);
    then.out = b.out<void>(0);
    launch(b, &Kernels::requantize, then);
  };
  return step;
}

/// How sums become float numbers again: by scales of inputs a (-1: one that is found when it runs) and b, and a bias.
Expected<RescaleArgs> rescale_of(const Site& site, const IntegerProduct& product, DType type, int a, int b, int bias) {
  const auto elem = float_of(type);
  if (!elem) return elem.error();
  for (const int i : {a, b, bias})
    if (i >= 0 && site.has(i) && (site.desc(i).dtype != type || !goes_with_columns(site.desc(i), product.args.n)))
      return Decline{"scales or a bias that do not fit"};
  if (site.has(bias) && site.desc(bias).size() != product.args.n) return Decline{"a bias that does not fit"};
  return RescaleArgs{*elem, a >= 0 && site.desc(a).size() > 1, site.desc(b).size() > 1, Divider(product.args.n),
                     element_count(product.out)};
}

/// (a, b, a_scale, b_scale, a_zero, b_zero, bias).
Expected<PlannedStep> plan_to_float(const Site& site) {
  auto product = integer_product_of(site, 0, 4, 1, 5);
  if (!product) return product.error();
  const DType type = site.desc(3).dtype;
  const auto how = rescale_of(site, *product, type, 2, 3, 6);
  if (!how) return how.error();
  if (site.has(4) && site.desc(4).size() > 1) return Decline{"zero points for rows"};
  const SumsMaker sums = sums_of(site, *product, 1, 5);
  PlannedStep step = step_of({type, product->out}, sums);
  step.run = [sums, how = *how, zero = site.has(4), bias = site.has(6)](const Buffers& b) {
    RescaleArgs then = how;
    then.sums = sums.run(b, b.in<void>(0), zero ? b.in<void>(4) : nullptr, b.scratch);
    then.a_scale = b.in<void>(2), then.b_scale = b.in<void>(3), then.bias = bias ? b.in<void>(6) : nullptr;
    then.out = b.out<void>(0);
    launch(b, &Kernels::rescale, then);
  };
  return step;
}

/// (a, a_scale, a_zero, b, b_scale, b_zero, bias, y_scale, y_zero), without the last two to numbers.
Expected<PlannedStep> plan_gemm(const Site& site) {
  auto product = integer_product_of(site, 0, 2, 3, 5);
  const DType type = site.desc(1).dtype;
  const auto scale = float_of(type);
  if (!product || !scale) return !product ? product.error() : scale.error();
  const int64_t columns = product->args.n;
  if (site.view.get_float("alpha", 1) != 1) return Decline{"it is scaled"};
  if (site.has(6) && (site.desc(6).dtype != DType::kI32 || site.desc(6).size() != columns))
    return Decline{"a bias that does not fit"};
  if (site.desc(1).size() != 1 || !goes_with_columns(site.desc(4), columns) || site.desc(4).dtype != type)
    return Decline{"scales that do not fit"};
  const bool to_codes = site.has(8);
  if (to_codes && (!is_byte(site.desc(8).dtype) || site.desc(8).size() != 1 || site.desc(7).size() != 1 ||
                   site.desc(7).dtype != type))
    return Decline{"an output that is no 8-bit integer"};
  const SumsMaker sums = sums_of(site, *product, 3, 5);
  PlannedStep step = step_of({to_codes ? site.desc(8).dtype : type, product->out}, sums);
  const bool each = site.desc(4).size() > 1, bias = site.has(6), zero = site.has(2);
  const int64_t count = step.out[0].size();
  const RequantizeArgs codes{*scale, {8, step.out[0].dtype == DType::kI8}, each, Divider(columns), Divider(1), count};
  const RescaleArgs numbers{*scale, false, each, Divider(columns), count};
  step.run = [=](const Buffers& b) {
    const CodeSums made = sums.run(b, b.in<void>(0), zero ? b.in<void>(2) : nullptr, b.scratch);
    const auto finish = [&](auto args, auto kernel) {
      args.sums = made;
      args.a_scale = b.in<void>(1), args.b_scale = b.in<void>(4), args.out = b.out<void>(0);
      if constexpr (std::is_same_v<decltype(args), RequantizeArgs>) {
        args.bias = bias ? b.in<int32_t>(6) : nullptr;
        args.y_scale = b.in<void>(7), args.zero = b.in<void>(8);
      } else {
        args.steps = bias ? b.in<int32_t>(6) : nullptr;
      }
      launch(b, kernel, args);
    };
    if (to_codes)
      finish(codes, &Kernels::requantize);
    else
      finish(numbers, &Kernels::rescale);
  };
  return step;
}

/// Where a dynamically quantized operand lies while a step runs, in bytes of its scratch.
struct DynamicRoom {
  size_t scale, zero, sums, codes, all;

  DynamicRoom(const DynamicQuantize& dynamic, size_t sums_bytes) {
    scale = device_aligned(dynamic.scratch_bytes());
    zero = scale + 16;
    sums = device_aligned(zero + 16);
    codes = sums + device_aligned(sums_bytes);
    all = codes + static_cast<size_t>(dynamic.count);
  }
};

/// (a, b, b_scale, b_zero, bias).
Expected<PlannedStep> plan_dynamic(const Site& site) {
  const TensorDesc& a = site.desc(0);
  if (a.dtype != DType::kF32) return Decline{"not float32"};
  auto product = integer_product_of(site, 0, -1, 1, 3);
  if (!product) return product.error();
  const auto how = rescale_of(site, *product, DType::kF32, -1, 2, 4);
  if (!how) return how.error();
  const DynamicQuantize dynamic(a);
  const SumsMaker sums = sums_of(site, *product, 1, 3);
  const DynamicRoom room(dynamic, sums.bytes);
  PlannedStep step = step_of({DType::kF32, product->out}, sums);
  step.scratch_bytes = room.all;
  step.run = [sums, how = *how, dynamic, room, bias = site.has(4)](const Buffers& b) {
    auto* scale = reinterpret_cast<float*>(b.scratch + room.scale);
    auto* zero = reinterpret_cast<uint8_t*>(b.scratch + room.zero);
    dynamic.run(b, b.in<void>(0), b.scratch, b.scratch + room.codes, scale, zero);
    RescaleArgs then = how;
    then.sums = sums.run(b, b.scratch + room.codes, zero, b.scratch + room.sums);
    then.a_scale = scale, then.b_scale = b.in<void>(2), then.bias = bias ? b.in<void>(4) : nullptr;
    then.out = b.out<void>(0);
    launch(b, &Kernels::rescale, then);
  };
  return step;
}

constexpr Kernel kKernels[] = {
    {.domain = "", .op = "MatMulInteger", .plan = plan_integer},
    {.domain = "", .op = "QLinearMatMul", .plan = plan_qlinear},
    {.domain = "com.microsoft", .op = "MatMulIntegerToFloat", .plan = plan_to_float},
    {.domain = "com.microsoft", .op = "DynamicQuantizeMatMul", .plan = plan_dynamic},
    {.domain = "com.microsoft", .op = "QGemm", .plan = plan_gemm},
};

}  // namespace

bool is_byte(DType type) { return type == DType::kI8 || type == DType::kU8; }

Expected<IntegerProduct> integer_product_of(const Site& site, int a, int az, int b, int bz) {
  Dims left = site.desc(a).dims, right = site.desc(b).dims;
  if ((az >= 0 && !is_byte(site.desc(a).dtype)) || !is_byte(site.desc(b).dtype)) return Decline{"no 8-bit codes"};
  if (left.empty() || right.empty()) return Decline{"a scalar"};
  const bool row = left.size() == 1, column = right.size() == 1;
  if (row) left.insert(left.begin(), 1);
  if (column) right.push_back(1);
  IntegerProduct made;
  IntegerProductArgs& args = made.args;
  args.a_transposed = site.view.get_int("transA", 0) != 0, args.x_transposed = site.view.get_int("transB", 0) != 0;
  if (args.a_transposed) std::swap(left[left.size() - 2], left.back());
  if (args.x_transposed) std::swap(right[right.size() - 2], right.back());
  args.m = left[left.size() - 2], args.k = left.back(), args.n = right.back();
  if (right[right.size() - 2] != args.k) return Decline{"the operands do not fit"};
  const Dims lefts(left.begin(), left.end() - 2), rights(right.begin(), right.end() - 2);
  const Dims batch = broadcast(lefts, rights);
  made.one_right = element_count(rights) == 1;
  const auto batches = walk_over<2>(batch, {broadcast_strides(lefts, batch), broadcast_strides(rights, batch)});
  if (!batches) return batches.error();
  args.batches = *batches;
  const auto a_each = each_of(site, az, a, args.m), b_each = each_of(site, bz, b, args.n);
  if (!a_each || !b_each) return !a_each ? a_each.error() : b_each.error();
  args.a.is_signed = site.desc(a).dtype == DType::kI8, args.x.is_signed = site.desc(b).dtype == DType::kI8;
  args.a.each = *a_each, args.x.each = *b_each;
  made.out = batch;
  if (!row) made.out.push_back(args.m);
  if (!column) made.out.push_back(args.n);
  if (!is_countable(site.desc(a)) || !is_countable(site.desc(b)) || !is_countable({DType::kI32, made.out}))
    return Decline{"more elements than kernels count"};
  return made;
}

std::span<const Kernel> integer_kernels() { return kKernels; }

}  // namespace mlopt::gpu
