// com.microsoft.MatMulNBits, also of floats of 8 bits as qdq::float8_weights makes it: few rows read the weights as
// they are stored, more rows have them unpacked before.
#include "backends/gpu/kernels.h"
#include "backends/gpu/packed_codes.h"
#include "backends/gpu/unpacked.h"
#include "core/exec/weight_cache.h"

namespace mlopt::gpu {
namespace {

enum Input { kSource, kWeights, kScales, kZeros, kGroups, kBias };

/// What does not depend on where things are; the sizes are checked.
Expected<NBitsArgs> args_of(const Site& site) {
  const TensorDesc& a = site.desc(kSource);
  const auto type = float_of(a.dtype);
  if (!type) return type.error();
  NBitsArgs args{};
  args.type = args.zero_type = *type;
  args.bits = static_cast<int>(site.view.get_int("bits", 4));
  args.n = site.view.get_int("N");
  args.k = site.view.get_int("K");
  args.block = site.view.get_int("block_size");
  if (args.bits != 2 && args.bits != 4 && args.bits != 8) return Decline{"weights of neither 2, 4 nor 8 bits"};
  if (args.n < 1 || args.k < 1 || args.block < 16 || args.block % 16 != 0 || args.block > 65536)
    return Decline{"blocks that are no multiple of 16"};
  if (a.dims.empty() || a.dims.back() != args.k) return Decline{"the operands do not fit"};
  args.m = a.size() / args.k;
  const int64_t blocks = (args.k + args.block - 1) / args.block;
  const TensorDesc codes{DType::kU8, {args.n, blocks, args.block}};
  if (!is_countable(codes) || !is_countable(a) || !is_countable({a.dtype, {args.m, args.n}}))
    return Decline{"more elements than kernels count"};
  const TensorDesc& b = site.desc(kWeights);
  if (b.dtype != DType::kU8 || b.size() != codes.size() * args.bits / 8) return Decline{"the weights do not fit"};
  if (site.desc(kScales).dtype != a.dtype || site.desc(kScales).size() != args.n * blocks)
    return Decline{"the scales do not fit"};
  if (site.has(kGroups)) return Decline{"rows in groups"};
  if (site.has(kBias) && (site.desc(kBias).dtype != a.dtype || site.desc(kBias).size() != args.n))
    return Decline{"the bias does not fit"};
  if (!site.has(kZeros)) return args;
  const TensorDesc& zeros = site.desc(kZeros);
  args.packed_zeros = zeros.dtype == DType::kU8;
  const int64_t expected = args.n * (args.packed_zeros ? (blocks * args.bits + 7) / 8 : blocks);
  const auto zero_type = args.packed_zeros ? type : float_of(zeros.dtype);
  if (!zero_type || zeros.size() != expected) return Decline{"the zero points do not fit"};
  args.zero_type = *zero_type;
  return args;
}

Expected<PlannedStep> plan(const Site& site) {
  const auto planned = args_of(site);
  if (!planned) return planned.error();
  const NBitsArgs args = *planned;
  TensorDesc out = site.desc(kSource);
  out.dims.back() = args.n;
  const size_t width = static_cast<size_t>(bits(out.dtype)) / 8;
  PlannedStep step{.out = {std::move(out)}};
  // Weights of the model are aligned to the words that rows are read in; others may lie anywhere.
  const bool few = args.m <= kFewRows && site.constant(kWeights);
  if (!few) step.scratch_bytes = static_cast<size_t>(args.n * args.k) * width;
  const bool tf32 = site.context.precision == Precision::kTF32;
  step.run = [args, few, tf32, zeros = site.has(kZeros), bias = site.has(kBias)](const Buffers& b) {
    NBitsArgs now = args;
    now.a = b.in<void>(kSource);
    now.codes = b.in<void>(kWeights);
    now.scales = b.in<void>(kScales);
    now.zeros = zeros ? b.in<void>(kZeros) : nullptr;
    now.bias = bias ? b.in<void>(kBias) : nullptr;
    now.out = few ? b.out<void>(0) : b.scratch;
    if (few) return launch(b, &Kernels::nbits_product, now);
    launch(b, &Kernels::nbits_unpack, now);
    multiply_unpacked(b, {now.type, tf32, now.m, now.n, now.k, now.a, now.bias});
  };
  return step;
}

/// Weights [k, n] (`transB`: [n, k]) of floats of 8 bits, a scale for each row: packed once, a block a row.
Expected<PlannedStep> plan_float8(const Site& site) {
  const TensorDesc &a = site.desc(kSource), &scales = site.desc(kScales);
  const auto type = float_of(a.dtype);
  const auto float8 = float8_of(site.desc(kWeights).dtype);
  const Tensor* weights = site.constant(kWeights);
  if (!type || !float8 || !weights) return Decline{"no constant floats of 8 bits"};
  const int64_t n = site.view.get_int("N"), k = site.view.get_int("K"), m = a.size() / k;
  const bool turned = site.view.get_int("transB", 0) == 0;
  if (a.dims.back() != k || m > kFewRows || weights->size() != n * k || scales.dtype != a.dtype || scales.size() != n)
    return Decline{"the operands do not fit, or too many rows"};
  if (site.has(kBias) && (site.desc(kBias).dtype != a.dtype || site.desc(kBias).size() != n))
    return Decline{"the bias does not fit"};
  const auto packed = shared_weights<PackedCodes>(
      site.context.weights, *weights, turned ? "gpu float8, turned" : "gpu float8, as it is",
      [&] { return std::make_shared<PackedCodes>(*weights, n, k, turned); });
  NBitsArgs args{};
  args.type = args.zero_type = *type;
  args.bits = 8, args.float8 = *float8;
  args.m = m, args.n = n, args.k = k, args.block = packed->pitch;
  TensorDesc out = a;
  out.dims.back() = n;
  PlannedStep step{.out = {std::move(out)}};
  step.packed = {kWeights};
  step.packed_bytes = packed->bytes();
  step.label = "nbits float8";
  step.run = [args, packed, bias = site.has(kBias)](const Buffers& b) {
    NBitsArgs now = args;
    now.a = b.in<void>(kSource);
    now.codes = packed->codes(queue_of(b));
    now.scales = b.in<void>(kScales);
    now.bias = bias ? b.in<void>(kBias) : nullptr;
    now.out = b.out<void>(0);
    launch(b, &Kernels::nbits_product, now);
  };
  return step;
}

constexpr Kernel kKernels[] = {
    {.domain = "com.microsoft", .op = "MatMulNBits", .plan = plan_float8},
    {.domain = "com.microsoft", .op = "MatMulNBits", .plan = plan},
};

}  // namespace

std::span<const Kernel> nbits_kernels() { return kKernels; }

}  // namespace mlopt::gpu
