#include "core/tensor/cast.h"

#include <cmath>
#include <complex>
#include <limits>

#include "core/base/error.h"
#include "tests/support/catch.h"
#include "tests/support/thrown.h"

using namespace mlopt;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity(), kNan = std::numeric_limits<double>::quiet_NaN();

Tensor doubles(const std::vector<double>& values) {
  return Tensor::of(Dims{static_cast<int64_t>(values.size())}, values);
}

}  // namespace

TEST_CASE("floats truncate to integers, integers wrap, as NumPy's astype does") {
  CHECK(to_ints(cast(doubles({2.9, -2.9, 0.5}), DType::kI32)) == std::vector<int64_t>{2, -2, 0});
  CHECK(to_ints(cast(Tensor::ints({300, -1, 128}), DType::kI8)) == std::vector<int64_t>{44, -1, -128});
  CHECK(to_ints(cast(Tensor::ints({-1}), DType::kU16)) == std::vector<int64_t>{65535});
  CHECK(cast(doubles({1.8e19}), DType::kU64).span<uint64_t>()[0] == 18000000000000000000ULL);
  CHECK(to_ints(cast(doubles({kNan, kInf, 1e300}), DType::kI64)) ==
        std::vector<int64_t>(3, std::numeric_limits<int64_t>::min()));
  CHECK(to_ints(cast(doubles({1e19}), DType::kI64)) == std::vector<int64_t>{std::numeric_limits<int64_t>::min()});
  CHECK(to_ints(cast(doubles({0, -0.0, kNan, 0.1}), DType::kBool)) == std::vector<int64_t>{0, 0, 1, 1});
}

TEST_CASE("elements narrower than a byte are packed from the low bits, and wrap") {
  const Tensor t = cast(Tensor::ints({1, -2, 7, 9, -8}), DType::kI4);
  REQUIRE(t.bytes() == 3);
  CHECK(t.raw()[0] == std::byte{0xe1});
  CHECK(t.raw()[1] == std::byte{0x97});
  CHECK(t.raw()[2] == std::byte{0x08});
  CHECK(to_ints(t) == std::vector<int64_t>{1, -2, 7, -7, -8});
  CHECK(to_ints(cast(Tensor::ints({0, 1, 2, 3, 4}), DType::kU2)) == std::vector<int64_t>{0, 1, 2, 3, 0});
  CHECK(to_ints(cast(Tensor::ints({1, 2, 3}), DType::kI2)) == std::vector<int64_t>{1, -2, -1});
  CHECK(to_ints(cast(Tensor::ints({(int64_t{1} << 60) + 5}), DType::kU4)) == std::vector<int64_t>{5});
  CHECK(to_doubles(cast(doubles({0.5, -3, 100}), DType::kF4E2M1)) == std::vector<double>{0.5, -3, 6});
}

TEST_CASE("unpack and pack undo one another") {
  for (const DType type : {DType::kI4, DType::kU4, DType::kI2, DType::kU2, DType::kF4E2M1}) {
    INFO(name(type));
    std::vector<int64_t> all;
    for (int64_t i = 0; i < 7; ++i) all.push_back(i);
    const Tensor packed = cast(Tensor::ints(all), type), bytes = unpack(packed);
    CHECK(bytes.size() == 7);
    CHECK(bits(bytes.dtype()) == 8);
    const Tensor again = pack(bytes, type);
    CHECK(again.dims() == packed.dims());
    CHECK(std::equal(again.raw_bytes().begin(), again.raw_bytes().end(), packed.raw_bytes().begin()));
  }
  CHECK(to_ints(unpack(cast(Tensor::ints({-3, 5}), DType::kI4))) == std::vector<int64_t>{-3, 5});
}

TEST_CASE("a double is rounded once on its way to a narrow float") {
  // Above the middle of two float16 by less than a float32 shows: rounding twice would go down.
  const double above = 1 + 0x1p-11 + 0x1p-40;
  CHECK(to_doubles(cast(doubles({above, -above}), DType::kF16)) == std::vector<double>{1 + 0x1p-10, -1 - 0x1p-10});
  CHECK(to_doubles(cast(doubles({1 + 0x1p-11}), DType::kF16)) == std::vector<double>{1});
  CHECK(to_doubles(cast(doubles({1e-300, -kInf}), DType::kBF16)) == std::vector<double>{0, -kInf});
}

TEST_CASE("saturation is for the 8 bit floats") {
  CHECK(to_doubles(cast(doubles({1e6, -1e6}), DType::kF8E4M3FN)) == std::vector<double>{448, -448});
  CHECK(std::isnan(to_doubles(cast(doubles({1e6}), DType::kF8E4M3FN, false))[0]));
  CHECK(to_doubles(cast(doubles({1e6}), DType::kF16)) == std::vector<double>{kInf});
}

TEST_CASE("numbers pass through strings") {
  const Tensor text = cast(doubles({1.5, -2}), DType::kString);
  CHECK(text.strings() == std::vector<std::string>{"1.5", "-2"});
  CHECK(to_doubles(cast(Tensor::of_strings({3}, {" 1e3 ", "+7", "-inf"}), DType::kF32)) ==
        std::vector<double>{1000, 7, -kInf});
  CHECK(cast(Tensor::of<float>({3}, {INFINITY, -INFINITY, NAN}), DType::kString).strings() ==
        std::vector<std::string>{"INF", "-INF", "NaN"});
  CHECK(cast(Tensor::scalar(UINT64_MAX), DType::kString).strings()[0] == "18446744073709551615");
  CHECK(test::says(test::thrown_by([] { cast(Tensor::of_strings({}, {"seven"}), DType::kI64); }), "'seven'"));
  CHECK_THROWS_AS(to_doubles(Tensor::of_strings({}, {"1"})), Error);
}

TEST_CASE("views of any alignment are read, whole chunks and the rest") {
  std::vector<std::byte> bytes(4 * 5000 + 1);
  for (int32_t i = 0; i < 5000; ++i) std::memcpy(bytes.data() + 1 + 4 * i, &i, 4);
  const Tensor odd = Tensor::view(DType::kI32, {5000}, std::span(bytes).subspan(1), nullptr);
  CHECK(to_ints(odd)[4999] == 4999);
  CHECK(to_floats(cast(odd, DType::kF16))[2047] == 2047);
  CHECK(number_at(cast(odd, DType::kBF16), 4096) == 4096);
  CHECK(number_at(odd, 1234) == 1234);
}

TEST_CASE("a complex number is its real part to a real type") {
  const std::vector<std::complex<float>> values = {{1, 2}, {-3, 4}};
  const Tensor t = Tensor::view(DType::kC64, {2}, std::as_bytes(std::span(values)), nullptr);
  CHECK(to_doubles(t) == std::vector<double>{1, -3});
  CHECK(to_doubles(cast(cast(t, DType::kC128), DType::kF32)) == std::vector<double>{1, -3});
}
