#include "backends/cpu/block_product.h"

#include "tests/support/catch.h"
#include "tests/support/op.h"

namespace mlopt::test {

TEST_CASE("a panel is what its codes, scales and zero points say") {
  constexpr int64_t kN = 37, kSize = 16, kBlocks = 3, kK = 43;
  const int bits = GENERATE(2, 4, 8), in_byte = 8 / bits;
  const Tensor codes = uniform({kN, kBlocks * kSize / in_byte}, 0, 255, DType::kU8, 1),
               zeros = uniform({kN, (kBlocks + in_byte - 1) / in_byte}, 0, 255, DType::kU8, 2),
               scales = uniform({kN, kBlocks}, -1, 1), x = uniform({kBlocks * kSize}, -1, 1, DType::kF32, 4);
  std::vector<float> row(x.data<float>(), x.data<float>() + kBlocks * kSize), sums(kBlocks);
  std::fill(row.begin() + kK, row.end(), 0.0f);
  for (size_t i = 0; i < row.size(); ++i) sums[i / kSize] += row[i];
  const auto code = [&](const Tensor& t, int64_t r, int64_t i) {
    return t.data<uint8_t>()[r * t.dim(1) + i / in_byte] >> (i % in_byte * bits) & ((1 << bits) - 1);
  };
  for (const bool with_zeros : {true, false}) {
    const cpu::PackedBlocks packed({bits, kN, kK, kSize, codes.data<uint8_t>(), scales.data<float>(),
                                    with_zeros ? zeros.data<uint8_t>() : nullptr});
    CHECK(packed.panels() * packed.width() >= kN);
    for (int64_t panel = 0; panel < packed.panels(); ++panel) {
      std::vector<float> out(static_cast<size_t>(packed.width()) + 1, 7);
      cpu::multiply_panel(packed, panel, row.data(), sums.data(), out.data());
      for (int64_t c = 0; c < packed.width(); ++c) {
        const int64_t n = panel * packed.width() + c;
        double sum = 0;
        for (int64_t i = 0; n < kN && i < kK; ++i) {
          const int zero = with_zeros ? code(zeros, n, i / kSize) : 1 << (bits - 1);
          sum += static_cast<double>(row[static_cast<size_t>(i)]) * (code(codes, n, i) - zero) *
                 scales.data<float>()[n * kBlocks + i / kSize];
        }
        CHECK(out[static_cast<size_t>(c)] == Approx(sum).margin(1e-3));
      }
      CHECK(out.back() == 7);
    }
  }
}

}  // namespace mlopt::test
