#include "backends/cpu/quantized.h"

#include "core/tensor/cast.h"
#include "tests/support/catch.h"
#include "tests/support/op.h"

namespace mlopt::cpu {

TEST_CASE("unsigned weights become signed ones of the same value") {
  const Tensor w = test::tensor({2, 3}, {0, 1, 127, 128, 200, 255}, DType::kU8);
  const Tensor zero = test::tensor({2}, {128, 3}, DType::kU8);
  const ByteWeights moved = byte_weights(w, &zero);
  REQUIRE(to_ints(moved.numbers) == std::vector<int64_t>{-128, -127, -1, 0, 72, 127});
  REQUIRE(moved.zeros == std::vector<int32_t>{0, -125});
  REQUIRE(!moved.symmetric());
  const Tensor middle = test::tensor({}, {128}, DType::kU8);
  REQUIRE(byte_weights(w, &middle).symmetric());
  const Tensor s = test::tensor({2}, {-128, 127}, DType::kI8);
  REQUIRE(to_ints(byte_weights(s, nullptr).numbers) == std::vector<int64_t>{-128, 127});
  REQUIRE(byte_weights(s, nullptr).symmetric());
}

TEST_CASE("products of bytes are exact where pairs of them cannot leave 16 bits") {
  const auto of = [](double most) { return byte_weights(test::tensor({2}, {-most, most}, DType::kI8), nullptr); };
  REQUIRE(of(64).exact_with(DType::kU8));
  REQUIRE(of(65).exact_with(DType::kU8) == has_byte_products());
  REQUIRE(of(1).exact_with(DType::kI8) == has_byte_products());  // oneDNN halves weights there
}

TEST_CASE("weights are centred by the zero point of their channel, on either axis") {
  const Tensor w = test::tensor({2, 3}, {1, 2, 3, 4, 5, 6}, DType::kI8);
  REQUIRE(to_doubles(centred(w, {1}, 0)) == std::vector<double>{0, 1, 2, 3, 4, 5});
  REQUIRE(to_doubles(centred(w, {1, -1}, 0)) == std::vector<double>{0, 1, 2, 5, 6, 7});
  REQUIRE(to_doubles(centred(w, {1, 2, 3}, 1)) == std::vector<double>{0, 0, 0, 3, 3, 3});
}

TEST_CASE("one value serves all channels") {
  REQUIRE(at(std::vector{7}, 5) == 7);
  REQUIRE(at(std::vector{7, 8, 9}, 2) == 9);
}

}  // namespace mlopt::cpu
