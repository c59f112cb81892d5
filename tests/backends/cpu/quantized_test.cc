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
  const auto exact = [](const Dims& dims, const std::vector<double>& w, int axis, DType source = DType::kU8) {
    return byte_weights(test::tensor(dims, w, DType::kI8), nullptr).exact_with(source, axis);
  };
  const bool always = has_byte_products();
  // Two places of two input channels, and a matrix: 100 and 28 are neighbours, or 100 and 29.
  REQUIRE(exact({1, 2, 2}, {100, -100, 28, -28}, 0));
  REQUIRE(exact({1, 2, 2}, {100, -100, 28, -29}, 0) == always);
  REQUIRE(exact({1, 2, 2}, {100, 100, -127, 28}, 0));
  REQUIRE(exact({2, 2}, {100, 127, 28, -127}, 1));
  REQUIRE(exact({2, 2}, {100, 127, 28, 2}, 1) == always);
  REQUIRE(exact({2, 2}, {100, 28, 127, -127}, 0));
  // Neighbours are not known.
  REQUIRE(exact({1, 3, 1}, {64, -64, 64}, 0));
  REQUIRE(exact({1, 3, 1}, {65, 0, 0}, 0) == always);
  REQUIRE(exact({1, 2}, {1, 1}, 0, DType::kI8) == always);  // oneDNN halves weights there
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
