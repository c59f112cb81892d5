// com.microsoft.MatMulBnb4: few rows read the weights as they are stored, more rows have them unpacked before.
#include <algorithm>

#include "backends/gpu/kernels.h"
#include "backends/gpu/unpacked.h"
#include "core/tensor/codes.h"

namespace mlopt::gpu {
namespace {

enum Input { kSource, kWeights, kScales };

/// What does not depend on where things are; the sizes are checked.
Expected<LevelsArgs> args_of(const Site& site) {
  const TensorDesc &a = site.desc(kSource), &b = site.desc(kWeights), &scales = site.desc(kScales);
  const auto type = float_of(a.dtype), scale_type = float_of(scales.dtype);
  if (!type) return type.error();
  if (!scale_type) return scale_type.error();
  LevelsArgs args{};
  args.type = *type;
  args.scale_type = *scale_type;
  args.n = site.view.get_int("N", 0);
  args.k = site.view.get_int("K", 0);
  args.block = site.view.get_int("block_size", 0);
  const int64_t kind = site.view.get_int("quant_type", -1);
  if ((kind != 0 && kind != 1) || site.view.get_int("transB", 1) == 0) return Decline{"its attributes are odd"};
  if (args.n < 1 || args.k < 1 || args.block < 1 || args.block > 65536) return Decline{"its sizes are odd"};
  if (a.dims.empty() || a.dims.back() != args.k) return Decline{"the operands do not fit"};
  args.m = a.size() / args.k;
  if (!is_countable({DType::kU8, {args.n, args.k}}) || !is_countable(a) || !is_countable({a.dtype, {args.m, args.n}}))
    return Decline{"more elements than kernels count"};
  const int64_t count = args.n * args.k;
  if (b.dtype != DType::kU8 || b.size() != (count + 1) / 2) return Decline{"the weights do not fit"};
  if (scales.size() != (count + args.block - 1) / args.block) return Decline{"the scales do not fit"};
  std::copy_n((kind == 1 ? kNF4 : kFP4).begin(), std::size(args.levels), args.levels);
  return args;
}

Expected<PlannedStep> plan(const Site& site) {
  const auto planned = args_of(site);
  if (!planned) return planned.error();
  const LevelsArgs args = *planned;
  TensorDesc out = site.desc(kSource);
  out.dims.back() = args.n;
  const size_t width = static_cast<size_t>(bits(out.dtype)) / 8;
  PlannedStep step{.out = {std::move(out)}};
  // Weights of the model are aligned to the words that rows are read in; others may lie anywhere.
  const bool few = args.m <= kFewRows && args.k % 16 == 0 && args.block % 16 == 0 && site.constant(kWeights);
  if (!few) step.scratch_bytes = static_cast<size_t>(args.n * args.k) * width;
  const bool tf32 = site.context.precision == Precision::kTF32;
  step.run = [args, few, tf32](const Buffers& b) {
    LevelsArgs now = args;
    now.a = b.in<void>(kSource);
    now.codes = b.in<void>(kWeights);
    now.scales = b.in<void>(kScales);
    now.out = few ? b.out<void>(0) : b.scratch;
    if (few) return launch(b, &Kernels::levels_product, now);
    launch(b, &Kernels::levels_unpack, now);
    multiply_unpacked(b, {now.type, tf32, now.m, now.n, now.k, now.a, nullptr});
  };
  return step;
}

constexpr Kernel kKernels[] = {{.domain = "com.microsoft", .op = "MatMulBnb4", .plan = plan}};

}  // namespace

std::span<const Kernel> levels_kernels() { return kKernels; }

}  // namespace mlopt::gpu
