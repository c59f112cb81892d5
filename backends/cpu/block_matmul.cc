// com.microsoft's products by constant weights of a few bits, which stay as they are stored: a few rows, as a decoder's
// next token, are multiplied by the codes, as the time is that of reading weights; for more rows the codes become
// floats piece by piece, in the first cache. Where the accuracy level lets rows be rounded to bytes, all rows are
// multiplied as bytes.
#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "backends/cpu/block_bytes.h"
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

/// What rows become before they are multiplied.
enum class Form { kFloats, kRounded, kBytes };

/// Rows one after the other in that form, as a panel's products take them.
struct Rows {
  const PackedBlocks& w;
  Form form;

  int64_t floats() const { return w.blocks() * w.block_size(); }
  int64_t bytes() const {
    if (form == Form::kBytes) return ByteRow::size(w);
    return static_cast<int64_t>(aligned_size(static_cast<size_t>(floats() + w.blocks()) * sizeof(float)));
  }

  void fill(const float* x, std::byte* out) const {
    if (form == Form::kBytes) return ByteRow::fill(w, x, out);
    auto *numbers = reinterpret_cast<float*>(out), *sums = numbers + floats();
    std::copy_n(x, w.k(), numbers);
    std::fill(numbers + w.k(), sums, 0.0f);
    if (form == Form::kRounded) round_row(numbers, floats(), w.block_size(), numbers);
    if (!w.zeros(0) && w.zero() == 0) return;
    for (int64_t b = 0; b < w.blocks(); ++b)
      sums[b] = fold_row(Fold::kSum, numbers + b * w.block_size(), w.block_size());
  }

  void multiply(int64_t panel, const std::byte* rows, int64_t count, float* out, int64_t stride) const {
    if (form == Form::kBytes) return multiply_panel_bytes(w, panel, rows, count, out, stride);
    const auto distance = bytes() / static_cast<int64_t>(sizeof(float));
    multiply_panel(w, panel, {reinterpret_cast<const float*>(rows), count, distance}, out, stride);
  }
};

/// A panel of a few rows, of which `out` has room for the columns that there are.
void multiply_into(const Rows& rows, int64_t panel, const std::byte* from, int64_t count, const float* bias,
                   float* out) {
  constexpr int64_t kWidest = 256;
  const PackedBlocks& w = rows.w;
  const int64_t first = panel * w.width(), columns = std::min(w.width(), w.n() - first);
  if (columns == w.width()) {
    rows.multiply(panel, from, count, out + first, w.n());
  } else {
    std::array<float, kMostFew * kWidest> all;
    rows.multiply(panel, from, count, all.data(), w.width());
    for (int64_t r = 0; r < count; ++r) std::copy_n(all.data() + r * w.width(), columns, out + r * w.n() + first);
  }
  for (int64_t r = 0; bias && r < count; ++r)
    for (int64_t c = first; c < first + columns; ++c) out[r * w.n() + c] += bias[c];
}

/// Panel by panel, which stays in a cache while all rows pass by.
PlannedStep plan_panels(const Blocks& w, Form form, int64_t rows, bool has_bias) {
  constexpr int64_t kGrain = 1 << 17;  // multiplications below which a second thread costs more than it brings
  const int64_t bytes = Rows{*w, form}.bytes(), work = w->k() * w->width() * rows;
  const int64_t grain = std::max<int64_t>(1, kGrain / std::max<int64_t>(1, work));
  PlannedStep step;
  step.scratch_bytes = static_cast<size_t>(rows * bytes);
  step.label = form == Form::kBytes ? "codes and bytes" : "codes";
  step.run = [=](const Buffers& b) {
    const Rows all{*w, form};
    parallel_for(rows, kMostFew, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) all.fill(b.in<float>(kRows) + r * w->k(), b.scratch + r * bytes);
    });
    const float* bias = has_bias ? b.in<float>(kBias) : nullptr;
    parallel_for(w->panels(), grain, [&](int64_t begin, int64_t end) {
      for (int64_t panel = begin; panel < end; ++panel)
        for (int64_t r = 0; r < rows; r += kMostFew)
          multiply_into(all, panel, b.scratch + r * bytes, std::min(kMostFew, rows - r), bias,
                        b.out<float>(0) + r * w->n());
    });
  };
  return step;
}

/// The tiles of other products.
PlannedStep plan_tiles(const Blocks& w, Form form, int64_t rows, bool has_bias) {
  const auto unpack = [w](int64_t column, int64_t columns, int64_t k, int64_t depth, float* out) {
    unpack_columns(*w, column, columns, k, depth, out);
  };
  const auto plan = std::make_shared<const ProductPlan>(ProductShape{rows, w->n(), w->k()}, unpack, max_threads());
  const size_t rounded = form == Form::kRounded ? aligned_size(static_cast<size_t>(rows * w->k()) * sizeof(float)) : 0;
  PlannedStep step;
  step.scratch_bytes = rounded + plan->workspace_bytes();
  step.label = "tiles of codes";
  step.run = [=](const Buffers& b) {
    const float* x = b.in<float>(kRows);
    if (rounded > 0) {
      auto* out = reinterpret_cast<float*>(b.scratch);
      parallel_for(rows, kMostFew, [&](int64_t begin, int64_t end) {
        for (int64_t r = begin; r < end; ++r) round_row(x + r * w->k(), w->k(), w->block_size(), out + r * w->k());
      });
      x = out;
    }
    ProductArgs args{.a = {x, w->k(), 1}, .c = b.out<float>(0), .c_stride = w->n()};
    args.bias = has_bias ? b.in<float>(kBias) : nullptr;
    plan->run(args, b.scratch + rounded);
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
  Form form = Form::kFloats;
  if (rounds_rows(site.view)) form = multiplies_bytes(*w) ? Form::kBytes : Form::kRounded;
  const bool tiles = rows > kMostFew && form != Form::kBytes;
  PlannedStep step = (tiles ? plan_tiles : plan_panels)(w, form, rows, site.has(kBias));
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
  if (stored->size * stored->bits % kWordBits != 0) return Decline{"its blocks are not of whole words"};
  return std::make_shared<PackedBlocks>(*stored);
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
