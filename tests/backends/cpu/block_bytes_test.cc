#include "backends/cpu/block_bytes.h"

#include <cmath>
#include <cstring>

#include "core/tensor/codes.h"
#include "tests/support/catch.h"
#include "tests/support/op.h"
#include "tests/support/targets.h"

namespace mlopt::test {
namespace {

constexpr int64_t kN = 70, kK = 120;

struct Weights {
  int64_t size;
  bool zeros;
  int64_t blocks = (kK + size - 1) / size;
  Tensor codes = uniform({kN, blocks* size / 2}, 0, 255, DType::kU8, 1);
  Tensor scales = uniform({kN, blocks}, -1, 1), points = uniform({kN, blocks}, 0, 15, DType::kF32, 2);

  cpu::PackedBlocks packed() const {
    const Tensor middle = Tensor::of<float>({kN, blocks}, std::vector<float>(static_cast<size_t>(kN * blocks), 8));
    return cpu::PackedBlocks({4, kN, kK, size, codes, scales, zeros ? points : middle});
  }
  double at(int64_t n, int64_t k) const {
    const int64_t block = n * blocks + k / size;
    const double zero = zeros ? points.data<float>()[block] : 8;
    return (code_at(codes.data<uint8_t>() + n * codes.dim(1), 4, k) - zero) * scales.data<float>()[block];
  }
};

/// Those of all kernels, and last what is chosen by itself: the file has one more than others.
std::vector<int64_t> all_targets() {
  std::vector<int64_t> all = targets();
  all.push_back(0);
  return all;
}

/// x in 255 steps around zero for each block.
double rounded(const float* x, int64_t k, int64_t size) {
  double largest = 0;
  for (int64_t i = k / size * size; i < std::min(kK, (k / size + 1) * size); ++i)
    largest = std::max(largest, std::abs(double{x[i]}));
  const double step = largest / 127;
  return step == 0 ? 0 : std::nearbyint(x[k] / step) * step;
}

}  // namespace

TEST_CASE("rows in bytes times codes are those that are rounded times weights, on every instruction set") {
  const Weights weights{GENERATE(16, 32, 64, 128), GENERATE(true, false)};
  const int64_t rows = GENERATE(1, 3, 6);
  Tensor x = uniform({rows, kK}, -3, 3, DType::kF32, 5);
  std::fill_n(x.mutable_data<float>() + 16, 32, 0.0f);  // a block of nothing
  for (const int64_t target : all_targets()) {
    const TargetScope scope(target);
    const cpu::PackedBlocks packed = weights.packed();
    if (!cpu::multiplies_bytes(packed)) continue;
    const int64_t size = cpu::ByteRow::size(packed), stride = packed.width() + 1;
    std::vector<std::byte> filled(static_cast<size_t>(rows * size));
    for (int64_t r = 0; r < rows; ++r) cpu::ByteRow::fill(packed, x.data<float>() + r * kK, filled.data() + r * size);
    for (int64_t panel = 0; panel < packed.panels(); ++panel) {
      std::vector<float> out(static_cast<size_t>(rows * stride), 7);
      cpu::multiply_panel_bytes(packed, panel, filled.data(), rows, out.data(), stride);
      for (int64_t i = 0; i < rows * stride; ++i) {
        const int64_t n = panel * packed.width() + i % stride;
        double sum = i % stride == packed.width() ? 7 : 0;
        for (int64_t k = 0; sum != 7 && n < kN && k < kK; ++k)
          sum += rounded(x.data<float>() + i / stride * kK, k, weights.size) * weights.at(n, k);
        CHECK(out[static_cast<size_t>(i)] == Approx(sum).margin(2e-3));
      }
    }
  }
}

TEST_CASE("the largest codes and bytes add up") {
  for (const int64_t target : all_targets()) {
    const TargetScope scope(target);
    Weights weights{GENERATE(16, 32, 128), false};
    std::memset(weights.codes.mutable_raw(), 0xFF, weights.codes.bytes());
    const cpu::PackedBlocks packed = weights.packed();
    if (!cpu::multiplies_bytes(packed)) continue;
    const std::vector<float> x(kK, -2.0f);
    std::vector<std::byte> filled(static_cast<size_t>(cpu::ByteRow::size(packed)));
    cpu::ByteRow::fill(packed, x.data(), filled.data());
    std::vector<float> out(static_cast<size_t>(packed.width()));
    cpu::multiply_panel_bytes(packed, 0, filled.data(), 1, out.data(), packed.width());
    double sum = 0;
    for (int64_t k = 0; k < kK; ++k) sum += -2 * weights.at(3, k);
    CHECK(out[3] == Approx(sum).epsilon(1e-5));
  }
}

TEST_CASE("bytes are for codes of four bits that are numbers") {
  const Weights w{32, true};
  CHECK_FALSE(cpu::multiplies_bytes(cpu::PackedBlocks({4, kN, kK, 32, w.codes, w.scales, w.points, &kNF4})));
  CHECK_FALSE(cpu::multiplies_bytes(cpu::PackedBlocks({8, kN / 2, kK, 32, w.codes, w.scales, w.points})));
}

}  // namespace mlopt::test
