#include "backends/cpu/block_product.h"

#include <algorithm>

#include "core/tensor/codes.h"
#include "tests/support/catch.h"
#include "tests/support/op.h"
#include "tests/support/targets.h"

namespace mlopt::test {
namespace {

/// Random weights of odd sizes, and what they stand for.
struct Weights {
  static constexpr int64_t kN = 37, kSize = 16, kBlocks = 3, kK = 43;

  int bits;
  bool listed = false;
  enum { kNone, kSome } zeros = kSome;
  Tensor codes = uniform({kN, kBlocks* kSize* bits / 8}, 0, 255, DType::kU8, 1);
  Tensor scales = uniform({kN, kBlocks}, -1, 1);
  Tensor points = uniform({kN, kBlocks}, 0, 1 << bits, DType::kF32, 2);

  cpu::PackedBlocks packed() const {
    const Tensor middle = Tensor::of<float>({kN, kBlocks}, std::vector<float>(kN * kBlocks, 1 << (bits - 1)));
    return cpu::PackedBlocks(
        {bits, kN, kK, kSize, codes, scales, zeros == kSome ? points : middle, listed ? &kNF4 : nullptr});
  }
  double at(int64_t n, int64_t k) const {
    const int64_t block = n * kBlocks + k / kSize;
    const int code = code_at(codes.data<uint8_t>() + n * codes.dim(1), bits, k);
    const double zero = zeros == kSome ? points.data<float>()[block] : 1 << (bits - 1);
    return (listed ? kNF4[static_cast<size_t>(code)] : code - zero) * scales.data<float>()[block];
  }
};

/// Of two and four bits and bytes, with and without zero points, and of levels from a list.
Weights some_weights() {
  const int kind = GENERATE(range(0, 7));
  if (kind == 6) return Weights{.bits = 4, .listed = true};
  return Weights{.bits = 2 << kind % 3, .listed = false, .zeros = kind < 3 ? Weights::kNone : Weights::kSome};
}

}  // namespace

TEST_CASE("a panel is what its codes, scales and zero points say, on every instruction set") {
  const Weights weights = some_weights();
  const int64_t rows = GENERATE(1, 2, 3, 7);
  constexpr int64_t kLength = Weights::kBlocks * Weights::kSize, kStride = kLength + Weights::kBlocks + 2;
  Tensor x = uniform({rows, kStride}, -1, 1, DType::kF32, 4);
  for (int64_t r = 0; r < rows; ++r) {
    float *row = x.mutable_data<float>() + r * kStride, *sums = row + kLength;
    std::fill(row + Weights::kK, sums, 0.0f);
    std::fill(sums, sums + Weights::kBlocks, 0.0f);
    for (int64_t i = 0; i < kLength; ++i) sums[i / Weights::kSize] += row[i];
  }
  for (const int64_t target : targets()) {
    const TargetScope scope(target);
    const cpu::PackedBlocks packed = weights.packed();
    const int64_t stride = packed.width() + 1;
    CHECK(packed.panels() * packed.width() >= Weights::kN);
    for (int64_t panel = 0; panel < packed.panels(); ++panel) {
      std::vector<float> out(static_cast<size_t>(rows * stride), 7);
      cpu::multiply_panel(packed, panel, {x.data<float>(), rows, kStride}, out.data(), stride);
      for (int64_t i = 0; i < rows * stride; ++i) {
        const int64_t n = panel * packed.width() + i % stride;
        double sum = i % stride == packed.width() ? 7 : 0;
        for (int64_t k = 0; sum != 7 && n < Weights::kN && k < Weights::kK; ++k)
          sum += double{x.data<float>()[i / stride * kStride + k]} * weights.at(n, k);
        CHECK(out[static_cast<size_t>(i)] == Approx(sum).margin(2e-4));
      }
    }
  }
}

TEST_CASE("columns are unpacked to the floats that they mean, on every instruction set") {
  const Weights weights = some_weights();
  for (const int64_t target : targets()) {
    const TargetScope scope(target);
    const cpu::PackedBlocks packed = weights.packed();
    const int64_t lanes = packed.width() / 4;
    for (const int64_t columns : {lanes, 2 * lanes})
      for (const auto& [k, depth] : {std::pair<int64_t, int64_t>{0, 43}, {16, 5}, {32, 11}, {0, 16}}) {
        const int64_t column = packed.width() - columns;
        std::vector<float> out(static_cast<size_t>(depth * columns) + 1, 7);
        cpu::unpack_columns(packed, column, columns, k, depth, out.data());
        CHECK(out.back() == 7);
        out.pop_back();
        for (int64_t i = 0; i < std::ssize(out); ++i) {
          const int64_t n = column + i % columns;
          const double number = n < Weights::kN ? weights.at(n, k + i / columns) : 0;
          CHECK(out[static_cast<size_t>(i)] == Approx(number).margin(1e-5));
        }
      }
  }
}

}  // namespace mlopt::test
