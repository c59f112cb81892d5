#include "core/tensor/compare.h"

#include <cmath>
#include <complex>
#include <limits>

#include "core/base/error.h"
#include "tests/support/catch.h"

using namespace mlopt;

namespace {

Tensor floats(Dims dims, const std::vector<float>& values) { return Tensor::of(std::move(dims), values); }

}  // namespace

TEST_CASE("the difference of two tensors, in figures worked out by hand") {
  const Difference d = difference(floats({2, 2}, {1, 2, 3, 5}), floats({2, 2}, {1, 2, 4, 3}));
  CHECK(d.max_abs == 2);
  CHECK(d.worst == 3);
  CHECK(d.max_rel == Approx(2.0 / 3));
  CHECK(d.max_expected == 4);
  CHECK(d.sqnr_db == Approx(10 * std::log10(30.0 / 5)));
  CHECK(d.cosine == Approx((1 + 4 + 12 + 15) / std::sqrt(39.0 * 30)));
  CHECK(d.argmax_agreement == 0.5);
}

TEST_CASE("equal tensors differ by nothing") {
  const Difference d = difference(floats({3}, {0, -1, 2}), floats({3}, {0, -1, 2}));
  CHECK(d.max_abs == 0);
  CHECK(d.worst == -1);
  CHECK(std::isinf(d.sqnr_db));
  CHECK(d.cosine == Approx(1));
  const Difference zeros = difference(floats({2}, {0, 0}), floats({2}, {0, 0}));
  CHECK(zeros.cosine == 1);
  CHECK(difference(floats({2}, {1, 0}), floats({2}, {0, 0})).cosine == 0);
}

TEST_CASE("NaN and infinities must be at the same places") {
  const float inf = INFINITY, nan = NAN;
  CHECK(difference(floats({2}, {nan, inf}), floats({2}, {nan, inf})).same_nonfinite);
  CHECK_FALSE(difference(floats({2}, {nan, inf}), floats({2}, {nan, -inf})).same_nonfinite);
  CHECK_FALSE(difference(floats({2}, {nan, 1}), floats({2}, {1, 1})).same_nonfinite);
  CHECK(difference(floats({2}, {nan, 1}), floats({2}, {1, 1})).lost_numbers);
  CHECK_FALSE(difference(floats({2}, {1, inf}), floats({2}, {nan, inf})).lost_numbers);
  CHECK_FALSE(mismatch(floats({2}, {nan, inf}), floats({2}, {nan, inf}), 0, 0));
  CHECK(mismatch(floats({2}, {1, nan}), floats({2}, {1, 2}), 1, 1));
}

TEST_CASE("several pairs count as one") {
  DifferenceSum sum;
  sum.add(floats({1, 2}, {1, 2}), floats({1, 2}, {1, 2}));
  sum.add(floats({1, 3}, {1, 1, 3}), floats({1, 3}, {1, 1, 1}));
  CHECK(sum.result().worst == 4);
  CHECK(sum.result().max_abs == 2);
  CHECK(sum.result().argmax_agreement == 0.5);
  CHECK_THROWS_AS(sum.add(floats({2}, {1, 2}), floats({1, 2}, {1, 2})), Error);
}

TEST_CASE("a vector has no rows: its numbers may be those of different samples") {
  const Difference d = difference(floats({3}, {1, 2, 3}), floats({3}, {3, 2, 1}));
  CHECK(d.max_abs == 2);
  CHECK(d.argmax_agreement == 1);
  CHECK(d.rows == 0);
}

TEST_CASE("whole numbers in a vector, as classes are named, agree where they are equal") {
  const Difference d = difference(Tensor::of<int64_t>({4}, {1, 2, 3, int64_t{1} << 60}),
                                  Tensor::of<int64_t>({4}, {1, 0, 3, (int64_t{1} << 60) + 1}));
  CHECK(d.rows == 4);
  CHECK(d.argmax_agreement == 0.5);
}

TEST_CASE("integers are told apart where doubles are not") {
  constexpr int64_t kLarge = int64_t{1} << 53, kMost = std::numeric_limits<int64_t>::max();
  CHECK(difference(Tensor::ints({kLarge + 1}), Tensor::ints({kLarge})).max_abs == 1);
  CHECK(difference(Tensor::ints({kLarge}), Tensor::ints({kLarge + 1})).max_abs == 1);
  CHECK(difference(Tensor::ints({kMost}), Tensor::ints({-kMost})).max_abs == 0x1p64);
  const auto unsigned_one = [](uint64_t v) { return Tensor::of<uint64_t>({1}, {v}); };
  CHECK(difference(unsigned_one(~uint64_t{0}), unsigned_one(~uint64_t{0} - 3)).max_abs == 3);
  CHECK(difference(unsigned_one(uint64_t{1} << 63), unsigned_one(0)).max_abs == 0x1p63);
}

TEST_CASE("a mismatch names the worst element within the tolerances") {
  const Tensor expected = floats({3}, {100, 1, 0});
  CHECK_FALSE(mismatch(floats({3}, {100.9f, 1.009f, 0}), expected, 0.01, 0));
  CHECK(mismatch(floats({3}, {100.9f, 1.2f, 0}), expected, 0.01, 0) == "element 1: 1.20000005 where 1 is expected");
  CHECK(mismatch(floats({3}, {100, 1, 0.1f}), expected, 0.01, 0));
  CHECK_FALSE(mismatch(floats({3}, {100, 1, 0.1f}), expected, 0, 0.11));
}

TEST_CASE("types, shapes, integers and strings must be the same") {
  CHECK(mismatch(Tensor::ints({1}), floats({1}, {1}), 1, 1) == "type int64 where float32 is expected");
  CHECK(mismatch(floats({1, 2}, {1, 2}), floats({2}, {1, 2}), 1, 1) == "shape 1x2 where 2 is expected");
  CHECK(mismatch(Tensor::ints({1, 2}), Tensor::ints({1, 3}), 9, 9) == "element 1: 2 where 3 is expected");
  CHECK(mismatch(Tensor::of_strings({1}, {"a"}), Tensor::of_strings({1}, {"b"}), 0, 0));
  CHECK_FALSE(mismatch(Tensor::of_strings({1}, {"a"}), Tensor::of_strings({1}, {"a"}), 0, 0));
}

TEST_CASE("imaginary parts count") {
  const std::vector<std::complex<double>> a = {{1, 2}, {3, 4}}, b = {{1, 2}, {3, 5}};
  const auto tensor = [](const auto& v) {
    return Tensor::view(DType::kC128, {2}, std::as_bytes(std::span(v)), nullptr);
  };
  CHECK_FALSE(mismatch(tensor(a), tensor(a), 0, 0));
  CHECK(mismatch(tensor(a), tensor(b), 0, 0.5) == "element 1: 4 where 5 is expected");
  CHECK(difference(tensor(a), tensor(a)).max_abs == 0);
  const Difference d = difference(tensor(a), tensor(b));
  CHECK(d.max_abs == 1);
  CHECK(d.worst == 1);
  CHECK(d.max_expected == 5);
  CHECK_THROWS_AS(difference(tensor(a), floats({2}, {1, 3})), Error);
}
