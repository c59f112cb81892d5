#include "backends/cpu/packed_blocks.h"

#include "backends/cpu/block_product.h"
#include "core/tensor/codes.h"
#include "tests/support/catch.h"
#include "tests/support/op.h"
#include "tests/support/targets.h"

namespace mlopt::test {
namespace {

constexpr int64_t kN = 5, kK = 20, kSize = 16;

/// With those in the middle where there are no zero points.
cpu::PackedBlocks packed(int bits, std::vector<float> zeros, const std::array<float, 16>* levels = nullptr) {
  if (zeros.empty()) zeros.assign(2 * kN, static_cast<float>(1 << (bits - 1)));
  return cpu::PackedBlocks({bits, kN, kK, kSize, uniform({kN, 2 * kSize * bits / 8}, 0, 255, DType::kU8),
                            uniform({kN, 2}, 1, 2), Tensor::of<float>({kN, 2}, zeros), levels});
}

}  // namespace

TEST_CASE("weights are panels of as many columns as four vectors, the last one filled up") {
  for (const int64_t target : targets()) {
    const TargetScope scope(target);
    const cpu::PackedBlocks w = packed(4, {});
    CHECK(w.width() == cpu::block_panel_width());
    CHECK(w.panels() == (kN + w.width() - 1) / w.width());
    CHECK(w.blocks() == 2);
    CHECK(w.bytes() == static_cast<size_t>(w.panels() * w.width() * (4 + 2) * 4));
    for (int64_t c = kN; c < w.width(); ++c) CHECK(w.scales(0)[c] == 0);
  }
}

TEST_CASE("zero points are kept where they differ from those in the middle") {
  for (const int bits : {2, 4, 8}) {
    const auto middle = static_cast<float>(1 << (bits - 1)), first = bits == 8 ? 128.0f : 0.0f;
    std::vector<float> zeros(2 * kN, middle);
    CHECK(packed(bits, {}).zero() == middle - first);
    CHECK(packed(bits, zeros).zeros(0) == nullptr);
    CHECK(packed(bits, zeros).zero() == middle - first);
    zeros[1] = 1;
    const cpu::PackedBlocks w = packed(bits, zeros);
    REQUIRE(w.zeros(0));
    CHECK(w.zeros(0)[0] == middle - first);
    CHECK(w.zeros(0)[w.width()] == 1 - first);
  }
  CHECK(packed(4, {}, &kNF4).levels()[15] == 1);
  CHECK(packed(4, {}, &kNF4).zero() == 0);
}

}  // namespace mlopt::test
