// com.microsoft's products by constant weights of a few bits, which stay as they are stored: a few rows, as a decoder's
// next token, are multiplied by the codes, as the time is that of reading weights; for more rows the codes become
// floats piece by piece, in the first cache.
#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "backends/cpu/block_product.h"
#include "backends/cpu/kernels.h"
#include "backends/cpu/packed_product.h"
#include "backends/cpu/rows.h"
#include "core/base/align.h"
#include "core/base/parallel.h"
#include "core/exec/weight_cache.h"
#include "core/ir/stored_weights.h"

namespace mlopt::cpu {
namespace {

enum Input { kRows, kCodes, kScales, kZeros, kPlaces, kBias };
using Blocks = std::shared_ptr<PackedBlocks>;
constexpr int64_t kMostFew = 12;  // beyond, floats in a cache are multiplied sooner than codes are unpacked again

/// Rows as multiply_panel() takes them.
struct Rows {
  static int64_t stride(const PackedBlocks& w) { return round_up(w.blocks() * (w.block_size() + 1), 16); }

  static void fill(const PackedBlocks& w, const float* x, float* out) {
    float* const sums = out + w.blocks() * w.block_size();
    std::copy_n(x, w.k(), out);
    std::fill(out + w.k(), sums, 0.0f);
    if (!w.zeros(0) && w.zero() == 0) return;
    for (int64_t b = 0; b < w.blocks(); ++b) sums[b] = fold_row(Fold::kSum, out + b * w.block_size(), w.block_size());
  }
};

void add_row(const float* bias, int64_t columns, float* out) {
  for (int64_t c = 0; c < columns; ++c) out[c] += bias[c];
}

/// A panel of all rows, of which `out` has room for the columns that there are.
void multiply_into(const PackedBlocks& w, int64_t panel, const BlockRows& rows, const float* bias, float* out) {
  constexpr int64_t kWidest = 256;
  const int64_t first = panel * w.width(), columns = std::min(w.width(), w.n() - first);
  if (columns == w.width()) {
    multiply_panel(w, panel, rows, out + first, w.n());
  } else {
    std::array<float, kMostFew * kWidest> all;
    multiply_panel(w, panel, rows, all.data(), w.width());
    for (int64_t r = 0; r < rows.count; ++r) std::copy_n(all.data() + r * w.width(), columns, out + r * w.n() + first);
  }
  for (int64_t r = 0; bias && r < rows.count; ++r) add_row(bias + first, columns, out + r * w.n() + first);
}

PlannedStep plan_few(const Blocks& w, int64_t rows, bool has_bias) {
  constexpr int64_t kGrain = 1 << 17;  // multiplications below which a second thread costs more than it brings
  const int64_t stride = Rows::stride(*w);
  const int64_t grain = std::max<int64_t>(1, kGrain / std::max<int64_t>(1, w->k() * w->width() * rows));
  PlannedStep step;
  step.scratch_bytes = static_cast<size_t>(rows * stride) * sizeof(float);
  step.label = "codes";
  step.run = [=](const Buffers& b) {
    auto* x = reinterpret_cast<float*>(b.scratch);
    for (int64_t r = 0; r < rows; ++r) Rows::fill(*w, b.in<float>(kRows) + r * w->k(), x + r * stride);
    const float* bias = has_bias ? b.in<float>(kBias) : nullptr;
    parallel_for(w->panels(), grain, [&](int64_t begin, int64_t end) {
      for (int64_t panel = begin; panel < end; ++panel)
        multiply_into(*w, panel, {x, rows, stride}, bias, b.out<float>(0));
    });
  };
  return step;
}

PlannedStep plan_many(const Blocks& w, int64_t rows, bool has_bias) {
  const auto unpack = [w](int64_t column, int64_t columns, int64_t k, int64_t depth, float* out) {
    unpack_columns(*w, column, columns, k, depth, out);
  };
  const auto plan = std::make_shared<const ProductPlan>(ProductShape{rows, w->n(), w->k()}, unpack, max_threads());
  PlannedStep step;
  step.scratch_bytes = plan->workspace_bytes();
  step.label = "tiles of codes";
  step.run = [=](const Buffers& b) {
    ProductArgs args{.a = {b.in<float>(kRows), w->k(), 1}, .c = b.out<float>(0), .c_stride = w->n()};
    args.bias = has_bias ? b.in<float>(kBias) : nullptr;
    plan->run(args, b.scratch);
  };
  return step;
}

Expected<PlannedStep> plan_product(const Site& site, const Blocks& w) {
  Dims dims = site.desc(kRows).dims;
  if (site.desc(kRows).dtype != DType::kF32 || dims.empty()) return Decline{"not rows of float32"};
  if (dims.back() != w->k()) return Decline{"the rows are not as long as the weights"};
  if (site.has(kBias) && (site.desc(kBias).dtype != DType::kF32 || site.desc(kBias).size() != w->n()))
    return Decline{"the bias is no row of float32"};
  const int64_t rows = element_count(dims) / w->k();
  PlannedStep step = (rows <= kMostFew ? plan_few : plan_many)(w, rows, site.has(kBias));
  dims.back() = w->n();
  step.out = {{DType::kF32, dims}};
  step.packed = {kCodes, kScales};
  if (site.has(kZeros)) step.packed.push_back(kZeros);
  step.packed_bytes = w->bytes();
  return step;
}

Expected<Blocks> pack(const NodeView& view) {
  constexpr int kWordBits = 32;
  const auto stored = stored_weights(view);
  if (!stored) return stored.error();
  const StoredWeights& w = *stored;
  if (w.size * w.bits % kWordBits != 0) return Decline{"its blocks are not of whole words"};
  return std::make_shared<PackedBlocks>(StoredBlocks{w.bits, w.n, w.k, w.size, w.codes.data<uint8_t>(),
                                                     w.scales.data<float>(), w.levels ? nullptr : w.zeros.data<float>(),
                                                     w.levels ? w.levels->data() : nullptr});
}

/// What tells weights of the same codes apart.
std::string form_of(const Site& site) {
  std::string form = site.view.node().op;
  for (const char* name : {"K", "bits", "block_size", "quant_type"})
    form += fmt::format(" {}", site.view.get_int(name, -1));
  for (const int i : {kScales, kZeros})
    form += fmt::format(" {}", static_cast<const void*>(site.constant(i) ? site.constant(i)->raw() : nullptr));
  return form;
}

Expected<PlannedStep> plan(const Site& site) {
  if (!site.constant(kCodes)) return Decline{"its weights are not constant"};
  Expected<Blocks> made = Blocks();
  const Blocks packed = shared_weights<PackedBlocks>(site.context.weights, *site.constant(kCodes), form_of(site), [&] {
    made = pack(site.view);
    return made ? *made : nullptr;
  });
  return packed ? plan_product(site, packed) : made.error();
}

constexpr Kernel kKernels[] = {{.domain = "com.microsoft", .op = "MatMulNBits", .plan = plan},
                               {.domain = "com.microsoft", .op = "MatMulBnb4", .plan = plan}};

}  // namespace

std::span<const Kernel> block_matmul_kernels() { return kKernels; }

}  // namespace mlopt::cpu
