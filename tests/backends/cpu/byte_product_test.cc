#include "tests/support/catch.h"
#include "tests/support/cpu.h"

namespace mlopt::test {
namespace {

Tensor bytes(const Dims& dims, DType type, uint64_t seed) {
  return uniform(dims, type == DType::kI8 ? -128 : 0, type == DType::kI8 ? 127.9 : 255.9, type, seed);
}

/// A zero point of the type, or one for each of `n` columns.
Tensor zeros(DType type, int64_t n) { return bytes(n > 1 ? Dims{n} : Dims{}, type, 3); }

void require_sums(const std::vector<Datum>& inputs, bool constant) {
  require_as_reference("MatMulInteger", inputs, {.fixed = constant}, 0);
}

}  // namespace

TEST_CASE("sums of integer products are exact for every type, size and zero point") {
  for (const Dims& size : {Dims{1, 1, 1}, Dims{3, 7, 5}, Dims{17, 64, 33}, Dims{2, 2500, 96}})
    for (const DType a : {DType::kU8, DType::kI8})
      for (const DType b : {DType::kI8, DType::kU8}) {
        INFO(to_string(size) << " " << name(a) << " with " << name(b));
        const Tensor left = bytes({size[0], size[1]}, a, 1), right = bytes({size[1], size[2]}, b, 2);
        require_sums({left, right, zeros(a, 1), zeros(b, 1)}, false);
        require_sums({left, right, zeros(a, 1), zeros(b, size[2])}, true);
        require_sums({left, right}, true);
      }
}

TEST_CASE("batches of integer products step through their operands") {
  for (const auto& [a, b] : {std::pair<Dims, Dims>{{2, 3, 5, 4}, {2, 3, 4, 6}},
                             {{2, 1, 5, 4}, {3, 4, 6}},
                             {{1, 3, 5, 4}, {2, 1, 4, 6}},
                             {{4}, {3, 4, 6}},
                             {{2, 5, 4}, {4}}}) {
    INFO(to_string(a) << " with " << to_string(b));
    for (const bool constant : {false, true})
      require_sums({bytes(a, DType::kU8, 1), bytes(b, DType::kI8, 2), zeros(DType::kU8, 1), zeros(DType::kI8, 1)},
                   constant);
  }
}

TEST_CASE("pairs of the largest products do not saturate") {
  // 255 * 127 twice is beyond 16 bits, where older processors add them.
  for (const double weight : {127.0, -128.0, 64.0})
    for (const double source : {255.0, 254.0})
      require_sums({tensor({3, 40}, std::vector<double>(120, source), DType::kU8),
                    tensor({40, 16}, std::vector<double>(640, weight), DType::kI8)},
                   true);
}

}  // namespace mlopt::test
