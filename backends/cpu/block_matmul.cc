// mlopt.BlockMatMul(x, W, codes, scales, zero points): x W of few rows by the codes that W was made of, as when a
// decoder makes one token and the time is that of reading weights.
#include <algorithm>
#include <array>

#include "backends/cpu/block_product.h"
#include "backends/cpu/kernels.h"
#include "backends/cpu/rows.h"
#include "core/base/align.h"
#include "core/base/parallel.h"
#include "core/exec/weight_cache.h"

namespace mlopt::cpu {
namespace {

enum Input { kRows, kWeights, kCodes, kScales, kZeros };

std::shared_ptr<const PackedBlocks> packed_blocks(const Site& site) {
  const Tensor &codes = *site.constant(kCodes), &weights = *site.constant(kWeights);
  return shared_weights<PackedBlocks>(site.context.weights, codes, "blocks", [&] {
    const Tensor stored = codes.aligned(), scales = site.constant(kScales)->aligned();
    const Tensor zeros = site.has(kZeros) ? site.constant(kZeros)->aligned() : Tensor();
    return std::make_shared<PackedBlocks>(StoredBlocks{static_cast<int>(site.view.get_int("bits", 4)), weights.dim(1),
                                                       weights.dim(0), site.view.get_int("block_size", 0),
                                                       stored.data<uint8_t>(), scales.data<float>(),
                                                       site.has(kZeros) ? zeros.data<uint8_t>() : nullptr});
  });
}

/// A row of whole blocks, and the sum of each.
struct Row {
  float *numbers, *sums;

  static int64_t elements(const PackedBlocks& w) { return round_up(w.blocks() * (w.block_size() + 1), 16); }
  Row(const PackedBlocks& w, float* memory) : numbers(memory), sums(memory + w.blocks() * w.block_size()) {}

  void fill(const PackedBlocks& w, const float* x) const {
    std::copy_n(x, w.k(), numbers);
    std::fill(numbers + w.k(), sums, 0.0f);
    for (int64_t b = 0; b < w.blocks(); ++b)
      sums[b] = fold_row(Fold::kSum, numbers + b * w.block_size(), w.block_size());
  }
};

void run(const PackedBlocks& w, int64_t rows, const float* x, float* memory, float* out) {
  constexpr int64_t kGrain = 1 << 17;  // multiplications below which a second thread costs more than it brings
  const int64_t each = Row::elements(w);
  for (int64_t r = 0; r < rows; ++r) Row(w, memory + r * each).fill(w, x + r * w.k());
  parallel_for(w.panels(), std::max<int64_t>(1, kGrain / (w.k() * w.width() * rows)), [&](int64_t begin, int64_t end) {
    std::array<float, 256> last;  // of a panel with columns beyond n
    for (int64_t panel = begin; panel < end; ++panel) {
      const int64_t first = panel * w.width(), columns = std::min(w.width(), w.n() - first);
      for (int64_t r = 0; r < rows; ++r) {
        const Row row(w, memory + r * each);
        float* to = out + r * w.n() + first;
        multiply_panel(w, panel, row.numbers, row.sums, columns == w.width() ? to : last.data());
        if (columns < w.width()) std::copy_n(last.data(), columns, to);
      }
    }
  });
}

Expected<PlannedStep> plan(const Site& site) {
  for (const int i : {kWeights, kCodes, kScales})
    if (!site.constant(i)) return Decline{"its weights are not constant"};
  Dims dims = site.desc(kRows).dims;
  if (site.desc(kRows).dtype != DType::kF32 || dims.empty()) return Decline{"not rows of float32"};
  if (dims.back() != site.desc(kWeights).dims[0]) return Decline{"the rows are not as long as the weights"};
  const auto w = packed_blocks(site);
  const int64_t rows = element_count(dims) / w->k();
  dims.back() = w->n();
  PlannedStep step{.out = {{DType::kF32, dims}}};
  step.scratch_bytes = static_cast<size_t>(rows * Row::elements(*w)) * sizeof(float);
  step.packed = {kWeights, kCodes, kScales};
  if (site.has(kZeros)) step.packed.push_back(kZeros);
  step.packed_bytes = w->bytes();
  step.run = [w, rows](const Buffers& b) {
    run(*w, rows, b.in<float>(kRows), reinterpret_cast<float*>(b.scratch), b.out<float>(0));
  };
  return step;
}

constexpr Kernel kKernels[] = {{.domain = "mlopt", .op = "BlockMatMul", .plan = plan}};

}  // namespace

std::span<const Kernel> block_matmul_kernels() { return kKernels; }

}  // namespace mlopt::cpu
