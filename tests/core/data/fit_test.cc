#include "core/data/fit.h"

#include <limits>

#include "core/tensor/cast.h"
#include "tests/support/catch.h"
#include "tests/support/thrown.h"

namespace mlopt {
namespace {

std::optional<Dims> fitted(const Dims& dims, const Dims& wanted, bool flatten = false) {
  SymDims symbolic;
  for (const int64_t d : wanted) symbolic.push_back(d < 0 ? Dim::symbol("N") : Dim(d));
  return fitted_dims(dims, symbolic, flatten);
}

Tensor as(DType type, const std::vector<float>& values, bool round = false) {
  return to_input_type(Tensor::of<float>({static_cast<int64_t>(values.size())}, values), type, round, "sample 5");
}

}  // namespace

TEST_CASE("dimensions of 1 come and go") {
  CHECK(fitted({28, 28}, {1, 28, 28}) == Dims{1, 28, 28});
  CHECK(fitted({1, 28, 28}, {28, 28}) == Dims{28, 28});
  CHECK(fitted({3, 1, 1}, {3}) == Dims{3});
  CHECK(fitted({5}, {-1, 1}) == Dims{5, 1});
  CHECK(fitted({}, {1, 1}) == Dims{1, 1});
  CHECK(fitted({7}, {}) == std::nullopt);
  CHECK(fitted({2, 3}, {3, 2}) == std::nullopt);
  CHECK(fitted({3, 4}, {3}) == std::nullopt);
}

TEST_CASE("flat data take the shape of as many elements") {
  CHECK(fitted({784}, {1, 28, 28}, true) == Dims{1, 28, 28});
  CHECK(fitted({28, 28}, {784}, true) == Dims{784});
  CHECK(fitted({12}, {3, -1}, true) == Dims{3, 4});
  CHECK(fitted({13}, {3, -1}, true) == std::nullopt);
  CHECK(fitted({12}, {3, 3}, true) == std::nullopt);
  CHECK(fitted({784}, {1, 28, 28}) == std::nullopt);
}

TEST_CASE("numbers become the model's type, or an error that names the sample") {
  CHECK(as(DType::kF16, {0.5F}).dtype() == DType::kF16);
  CHECK(to_ints(as(DType::kU8, {0, 255})) == std::vector<int64_t>{0, 255});
  CHECK(to_ints(as(DType::kI8, {-127.6F, 3.2F}, true)) == std::vector<int64_t>{-128, 3});
  CHECK(to_ints(as(DType::kBool, {1, 0})) == std::vector<int64_t>{1, 0});
  CHECK(test::says(test::thrown_by([] { as(DType::kU8, {256}); }), "256 is no uint8"));
  CHECK(test::says(test::thrown_by([] { as(DType::kU8, {-1}); }), "sample 5"));
  CHECK(test::says(test::thrown_by([] { as(DType::kI32, {0.5F}); }), "0.5 is no int32"));
  CHECK(test::thrown_by([] { as(DType::kI64, {std::numeric_limits<float>::quiet_NaN()}, true); }).code ==
        Code::kBadInput);
  CHECK(test::thrown_by([] { as(DType::kI64, {1e30F}); }).code == Code::kBadInput);
  CHECK(test::thrown_by([] { as(DType::kString, {1}); }).code == Code::kBadInput);
  const Tensor large = Tensor::of<int64_t>({1}, {int64_t{1} << 62 | 1});
  CHECK(to_ints(to_input_type(large, DType::kU64, false, ""))[0] == (int64_t{1} << 62 | 1));
  const Tensor unsigned_numbers = Tensor::of<uint64_t>({2}, {5, ~uint64_t{0}});
  for (const DType type : {DType::kI64, DType::kI32})
    CHECK(test::says(test::thrown_by([&] { to_input_type(unsigned_numbers, type, false, ""); }), "1.8446744"));
  CHECK(test::thrown_by([] { as(DType::kI64, {0x1p63F}); }).code == Code::kBadInput);
}

TEST_CASE("samples are stacked only when they are alike") {
  const Tensor a = Tensor::of<float>({2}, {1, 2}), b = Tensor::of<float>({2}, {3, 4}),
               c = Tensor::of<float>({3}, {3, 4, 5});
  const std::vector<std::string> names = {"first", "second"};
  const Tensor both = stack(std::vector{a, b}, names);
  CHECK(both.dims() == Dims{2, 2});
  CHECK(to_doubles(both) == std::vector<double>{1, 2, 3, 4});
  CHECK(test::says(test::thrown_by([&] { stack(std::vector{a, c}, names); }), "second"));
  const Tensor texts = stack(std::vector{Tensor::of_strings({}, {"x"}), Tensor::of_strings({}, {"y"})}, names);
  CHECK(texts.strings() == std::vector<std::string>{"x", "y"});
}

}  // namespace mlopt
