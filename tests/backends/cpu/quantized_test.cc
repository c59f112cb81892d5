#include "backends/cpu/quantized.h"

#include "core/tensor/cast.h"
#include "tests/support/catch.h"
#include "tests/support/op.h"

namespace mlopt::cpu {

TEST_CASE("unsigned weights become signed ones of the same value") {
  const Tensor w = test::tensor({2, 3}, {0, 1, 127, 128, 200, 255}, DType::kU8);
  const ByteWeights moved = byte_weights(w, {128, 3});
  REQUIRE(to_ints(moved.numbers) == std::vector<int64_t>{-128, -127, -1, 0, 72, 127});
  REQUIRE(moved.zeros == std::vector<int32_t>{0, -125});
  REQUIRE(!moved.symmetric());
  REQUIRE(byte_weights(w, {128}).symmetric());
  const Tensor s = test::tensor({2}, {-128, 127}, DType::kI8);
  REQUIRE(to_ints(byte_weights(s, {0}).numbers) == std::vector<int64_t>{-128, 127});
  REQUIRE(byte_weights(s, {0}).symmetric());
}

TEST_CASE("one value serves all channels") {
  REQUIRE(at(std::vector{7}, 5) == 7);
  REQUIRE(at(std::vector{7, 8, 9}, 2) == 9);
}

}  // namespace mlopt::cpu
