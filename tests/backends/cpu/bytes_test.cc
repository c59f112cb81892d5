#include "backends/cpu/bytes.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/tensor/cast.h"
#include "tests/support/bytes.h"
#include "tests/support/catch.h"
#include "tests/support/op.h"

namespace mlopt::cpu {
namespace {

constexpr DType kTypes[] = {DType::kU8, DType::kI8};

int lowest(DType type) { return type == DType::kI8 ? -128 : 0; }

/// Every step of the type, then `count` random ones: all tails of a vector occur.
Tensor steps(DType type, int64_t count) {
  std::vector<double> all;
  for (int i = 0; i < 256; ++i) all.push_back(lowest(type) + i);
  const auto more = to_doubles(test::uniform({count}, lowest(type), lowest(type) + 255, type));
  all.insert(all.end(), more.begin(), more.end());
  return test::tensor({256 + count}, all, type);
}

double clamped(double x, DType type) { return std::clamp(x, double(lowest(type)), double(lowest(type) + 255)); }

}  // namespace

TEST_CASE("stored numbers become floats and come back") {
  for (const DType type : kTypes)
    for (int64_t more = 0; more < 70; ++more) {
      const Tensor x = steps(type, more);
      const int32_t zero = lowest(type) + 100;
      Tensor wide(DType::kF32, x.dims()), back(type, x.dims());
      dequantize(bytes_of(x), wide.mutable_data<float>(), x.size(), 0.37f, zero);
      const auto numbers = to_ints(x);
      for (int64_t i = 0; i < x.size(); ++i)
        REQUIRE(wide.data<float>()[i] == static_cast<float>(numbers[static_cast<size_t>(i)] - zero) * 0.37f);
      quantize(wide.data<float>(), bytes_of(back), x.size(), 0.37f, zero);
      REQUIRE(to_ints(back) == numbers);
    }
}

TEST_CASE("numbers are rounded half to even and kept within the type") {
  const std::vector<double> values{0.5, 1.5, 2.5, -0.5, -1.5, 1e30, -1e30, INFINITY, -INFINITY, 300, -300, 0.49999997};
  for (const DType type : kTypes)
    for (size_t count = 1; count <= 4 * values.size(); ++count) {
      std::vector<double> all;
      for (size_t i = 0; i < count; ++i) all.push_back(values[i % values.size()]);
      const auto n = static_cast<int64_t>(count);
      const Tensor x = test::tensor({n}, all);
      Tensor q(type, {n}), r(type, {n}), s(type, {n});
      quantize(x.data<float>(), bytes_of(q), n, 1, 3);
      requantize(x.data<float>(), bytes_of(r), n, 2, 0.25f, 3);
      const Tensor factors = test::tensor({n}, std::vector<double>(count, 2)),
                   offsets = test::tensor({n}, std::vector<double>(count, 0.25));
      requantize(x.data<float>(), bytes_of(s), n, factors.data<float>(), offsets.data<float>(), 3);
      for (size_t i = 0; i < count; ++i) {
        REQUIRE(to_doubles(q)[i] == clamped(std::nearbyint(all[i]) + 3, type));
        REQUIRE(to_doubles(r)[i] == clamped(std::nearbyint(all[i] * 2 + 0.25) + 3, type));
      }
      REQUIRE(to_ints(s) == to_ints(r));
    }
}

TEST_CASE("int8 becomes uint8 in the order of the numbers, and sums are exact") {
  for (int64_t more = 0; more < 70; ++more) {
    const Tensor x = steps(DType::kI8, more);
    Tensor y(DType::kU8, x.dims());
    flip_sign(x.raw(), y.mutable_raw(), x.size());
    const auto before = to_ints(x), after = to_ints(y);
    for (size_t i = 0; i < before.size(); ++i) REQUIRE(after[i] == before[i] + 128);
    int64_t signed_sum = 0, unsigned_sum = 0;
    for (const int64_t v : before) signed_sum += v;
    for (const int64_t v : after) unsigned_sum += v;
    REQUIRE(sum(bytes_of(x), x.size()) == signed_sum);
    REQUIRE(sum(bytes_of(std::as_const(y)), y.size()) == unsigned_sum);
  }
  const Tensor many = test::tensor({100000}, std::vector<double>(100000, 255), DType::kU8);
  REQUIRE(sum(bytes_of(many), many.size()) == 25500000);
}

}  // namespace mlopt::cpu
