#include "backends/cpu/rows.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/tensor/cast.h"
#include "tests/support/catch.h"
#include "tests/support/op.h"
#include "tests/support/targets.h"

namespace mlopt::cpu {
namespace {

constexpr Fold kFolds[] = {Fold::kSum, Fold::kSumAbs, Fold::kSumSquare, Fold::kProduct, Fold::kMax, Fold::kMin};

double folded(Fold op, double a, double x) {
  switch (op) {
    case Fold::kSum:
      return a + x;
    case Fold::kSumAbs:
      return a + std::abs(x);
    case Fold::kSumSquare:
      return a + x * x;
    case Fold::kProduct:
      return a * x;
    case Fold::kMax:
      return std::max(a, x);
    case Fold::kMin:
      return std::min(a, x);
  }
  return 0;
}

/// A row whose product neither overflows nor vanishes.
Tensor row_for(Fold op, int64_t n) {
  return op == Fold::kProduct ? test::uniform({n}, -1.02, -0.98) : test::uniform({n}, -3, 2);
}

std::vector<int64_t> counts() {
  std::vector<int64_t> all{4095, 4096, 4097, 10001};
  for (int64_t n = 0; n <= 70; ++n) all.push_back(n);
  return all;
}

}  // namespace

TEST_CASE("a row is folded as one number after the other is, whatever its length") {
  for (const Fold op : kFolds)
    for (const int64_t n : counts()) {
      const Tensor x = row_for(op, n);
      double expected = identity(op);
      for (const double v : to_doubles(x)) expected = folded(op, expected, v);
      INFO(static_cast<int>(op) << " of " << n);
      const float got = fold_row(op, x.data<float>(), n);
      REQUIRE((got == static_cast<float>(expected) ||
               got == Approx(expected).epsilon(op == Fold::kProduct ? 1e-4 : 1e-5).margin(1e-4)));
    }
}

TEST_CASE("NaN wins wherever it stands, and infinities stay") {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN(), kInfinity = std::numeric_limits<float>::infinity();
  for (const Fold op : kFolds)
    for (const int64_t n : {1, 7, 8, 37, 5000})
      for (int64_t at = 0; at < n; at += 1 + n / 40) {
        Tensor x = row_for(op, n);
        x.mutable_data<float>()[at] = kNan;
        REQUIRE(std::isnan(fold_row(op, x.data<float>(), n)));
        x.mutable_data<float>()[at] = op == Fold::kMin ? -kInfinity : kInfinity;
        REQUIRE(std::isinf(fold_row(op, x.data<float>(), n)));
      }
}

TEST_CASE("rows are folded into rows") {
  for (const Fold op : kFolds)
    for (const int64_t n : counts()) {
      const Tensor x = test::uniform({n}, -3, 2, DType::kF32, 1), start = test::uniform({n}, -1, 1, DType::kF32, 2);
      Tensor acc = cast(start, DType::kF32);
      std::vector<float> sums = to_floats(start);
      fold(op, sums.data(), x.data<float>(), n);
      for (int64_t i = 0; i < n; ++i)
        REQUIRE(sums[static_cast<size_t>(i)] ==
                Approx(folded(op, start.data<float>()[i], x.data<float>()[i])).margin(1e-6));
    }
  for (const int64_t n : counts()) {
    const Tensor a = test::uniform({n}, 0, 255, DType::kU8, 1), b = test::uniform({n}, 0, 255, DType::kU8, 2);
    std::vector<uint8_t> most(a.data<uint8_t>(), a.data<uint8_t>() + n);
    fold_max(most.data(), b.data<uint8_t>(), n);
    for (int64_t i = 0; i < n; ++i)
      REQUIRE(most[static_cast<size_t>(i)] == std::max(a.data<uint8_t>()[i], b.data<uint8_t>()[i]));
  }
}

TEST_CASE("exponentials are those in double, vanish where they would be denormal, and keep NaN and infinities") {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN(), kInfinity = std::numeric_limits<float>::infinity();
  constexpr float kShift = 3;
  for (const int64_t target : test::targets()) {
    const test::TargetScope scope(target);
    for (const int64_t n : counts()) {
      Tensor x = test::uniform({n}, -150 + kShift, kShift);
      float* at = x.mutable_data<float>();
      if (n > 0) at[n - 1] = kShift;
      if (n > 1) at[0] = -kInfinity;
      std::vector<float> y(static_cast<size_t>(n));
      const float sum = exp_row(at, y.data(), n, kShift);
      double expected = 0;
      for (int64_t i = 0; i < n; ++i) {
        const double e = std::exp(static_cast<double>(at[i] - kShift)), got = y[static_cast<size_t>(i)];
        expected += e;
        if (got == 0) REQUIRE(e < 5e-38);
        if (got != 0) REQUIRE((std::isnormal(static_cast<float>(got)) && std::abs(got - e) <= 3e-7 * e));
      }
      REQUIRE(sum == Approx(expected).epsilon(1e-6));
      if (n == 0) continue;
      at[n / 2] = kNan;
      REQUIRE(std::isnan(exp_row(at, y.data(), n, kShift)));
      REQUIRE(std::isnan(y[static_cast<size_t>(n / 2)]));
    }
  }
}

TEST_CASE("deviations are measured from the mean that is given, rows scaled and shifted by element") {
  for (const int64_t n : counts()) {
    const Tensor x = test::uniform({n}, 1000, 1001, DType::kF32, 1), scale = test::uniform({n}, -2, 2, DType::kF32, 2),
                 bias = test::uniform({n}, -2, 2, DType::kF32, 3);
    double expected = 0;
    for (const double v : to_doubles(x)) expected += (v - 1000.5) * (v - 1000.5);
    REQUIRE(sum_deviation(x.data<float>(), n, 1000.5f) == Approx(expected).epsilon(1e-4).margin(1e-6));
    std::vector<float> y(static_cast<size_t>(n)), z = to_floats(bias);
    normalize_row(x.data<float>(), y.data(), n, 1000, 3, scale.data<float>(), nullptr);
    add_scaled(z.data(), scale.data<float>(), n, 0.5f);
    for (int64_t i = 0; i < n; ++i) {
      const auto k = static_cast<size_t>(i);
      REQUIRE(y[k] == Approx((x.data<float>()[i] - 1000) * 3 * scale.data<float>()[i]).margin(1e-6));
      REQUIRE(z[k] == Approx(bias.data<float>()[i] + 0.5 * scale.data<float>()[i]).margin(1e-6));
    }
    affine(y.data(), y.data(), n, 2, 1);
    normalize_row(x.data<float>(), z.data(), n, 1000, 3, scale.data<float>(), bias.data<float>());
    for (int64_t i = 0; i < n; ++i) {
      const auto k = static_cast<size_t>(i);
      REQUIRE(y[k] == Approx(2 * (z[k] - bias.data<float>()[i]) + 1).margin(1e-5));
    }
  }
}

}  // namespace mlopt::cpu
