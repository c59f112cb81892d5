// com.microsoft.MatMulIntegerToFloat of floats of 8 bits, as qdq::float8_matmul makes it, with constant weights:
// products by the library, whose tensor cores want both operands in rows along k, then scales and bias.
#include <algorithm>

#include "backends/gpu/kernels.h"
#include "backends/gpu/packed_codes.h"
#include "core/base/align.h"
#include "core/exec/weight_cache.h"

namespace mlopt::gpu {
namespace {

enum Input { kA, kB, kAScale, kBScale, kAZero, kBZero, kBias };

struct Run {
  Float8 a_type, x_type;
  int64_t rows, n, k;
  bool each, bias;
  std::shared_ptr<PackedCodes> weights;
  size_t codes_at;  ///< in the scratch, behind the sums

  void operator()(const Buffers& b) const {
    const void* a = b.in<void>(kA);
    const bool as_it_is = weights->pitch == k && reinterpret_cast<uintptr_t>(a) % 16 == 0;
    if (!as_it_is)
      launch(b, &Kernels::pack_codes,
             PackCodesArgs{true, rows, k, static_cast<int>(weights->pitch), a, b.scratch + codes_at});
    auto* sums = reinterpret_cast<float*>(b.scratch);
    launch(b, &Kernels::float8_product,
           Float8ProductArgs{a_type, x_type, rows, weights->rows, weights->pitch, as_it_is ? a : b.scratch + codes_at,
                             weights->codes(queue_of(b)), sums});
    launch(b, &Kernels::float8_end,
           Float8EndArgs{rows, n, weights->rows, each, sums, b.in<float>(kAScale), b.in<float>(kBScale),
                         bias ? b.in<float>(kBias) : nullptr, b.out<float>(0)});
  }
};

Expected<PlannedStep> plan(const Site& site) {
  const TensorDesc &a = site.desc(kA), &b = site.desc(kB);
  const auto a_type = float8_of(a.dtype), x_type = float8_of(b.dtype);
  const Tensor* weights = site.constant(kB);
  if (!a_type || !x_type || !weights) return Decline{"no floats of 8 bits with constant weights"};
  if (a.dims.size() < 2 || b.dims.size() != 2 || a.dims.back() != b.dims[0]) return Decline{"the operands do not fit"};
  const int64_t k = b.dims[0], n = b.dims[1], rows = a.size() / k;
  const auto fits = [&](int i, int64_t count) {
    return site.desc(i).dtype == DType::kF32 && (site.desc(i).size() == 1 || site.desc(i).size() == count);
  };
  if (!fits(kAScale, 1) || !fits(kBScale, n) || (site.has(kBias) && (!fits(kBias, n) || site.desc(kBias).size() != n)))
    return Decline{"scales or a bias that do not fit"};
  Run run{*a_type, *x_type, rows, n, k, site.desc(kBScale).size() > 1, site.has(kBias), nullptr, 0};
  run.weights = shared_weights<PackedCodes>(site.context.weights, *weights, "gpu float8",
                                            [&] { return std::make_shared<PackedCodes>(*weights, n, k, true); });
  if (rows * std::max(run.weights->rows, run.weights->pitch) >= int64_t{1} << 31)
    return Decline{"more elements than kernels count"};
  TensorDesc out{DType::kF32, a.dims};
  out.dims.back() = n;
  PlannedStep step{.out = {std::move(out)}};
  run.codes_at = static_cast<size_t>(round_up(rows * run.weights->rows * static_cast<int64_t>(sizeof(float)), 256));
  step.scratch_bytes = run.codes_at + static_cast<size_t>(rows * run.weights->pitch);
  step.packed = {kB, kAZero, kBZero};
  step.packed_bytes = run.weights->bytes();
  step.label = "cublas float8";
  step.run = run;
  return step;
}

constexpr Kernel kKernels[] = {{.domain = "com.microsoft", .op = "MatMulIntegerToFloat", .plan = plan}};

}  // namespace

std::span<const Kernel> float8_kernels() { return kKernels; }

}  // namespace mlopt::gpu
