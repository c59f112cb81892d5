#include "core/train/mixup.h"

#include <cmath>

#include "core/tensor/cast.h"
#include "tests/support/cases.h"
#include "tests/support/catch.h"
#include "tests/support/thrown.h"

namespace mlopt::test {

TEST_CASE("shares have the mean and the variance of their distribution") {
  constexpr int kCount = 20000;
  for (const double alpha : {0.05, 0.2, 1.0, 3.0, 200.0}) {
    Rng rng(11);
    double sum = 0, squares = 0;
    for (int i = 0; i < kCount; ++i) {
      const double share = train::draw_beta(alpha, rng);
      REQUIRE((share >= 0 && share <= 1));
      sum += share - 0.5;
      squares += (share - 0.5) * (share - 0.5);
    }
    INFO("alpha " << alpha);
    const double variance = 1 / (4 * (2 * alpha + 1));
    CHECK(std::fabs(sum / kCount) < 4 * std::sqrt(variance / kCount));                // 4 standard errors
    CHECK(squares / kCount == Approx(variance).epsilon(4 * std::sqrt(2. / kCount)));  // no fourth moment is larger
  }
}

TEST_CASE("shares lie as their distribution has them") {
  constexpr int kCount = 20000;
  // Below t lie t of Beta(1, 1), and 2 / pi asin(sqrt(t)) of Beta(1/2, 1/2).
  for (const double alpha : {0.5, 1.0}) {
    Rng rng(3);
    int below = 0;
    for (int i = 0; i < kCount; ++i) below += train::draw_beta(alpha, rng) < 0.25;
    const double share = alpha == 1 ? 0.25 : 1.0 / 3;
    CHECK(std::fabs(below / double{kCount} - share) < 4 * std::sqrt(share * (1 - share) / kCount));
  }
  Rng rng(1);
  for (int i = 0; i < 100; ++i) {
    const double share = train::draw_beta(1e-6, rng);
    CHECK((share < 1e-9 || share > 1 - 1e-9));
    CHECK(train::draw_beta(1e6, rng) == Approx(0.5).epsilon(0.01));
  }
}

TEST_CASE("the share of a sample depends on seed, epoch and sample alone") {
  const std::vector<int64_t> all = {4, 9, 2}, some = {2};
  const std::vector<double> shares = train::mixup_shares(0.4, all, 3, 7);
  REQUIRE(shares.size() == 3);
  CHECK(train::mixup_shares(0.4, some, 3, 7)[0] == shares[2]);
  CHECK(train::mixup_shares(0.4, some, 4, 7)[0] != shares[2]);
  CHECK(train::mixup_shares(0.4, some, 3, 8)[0] != shares[2]);
  CHECK(shares[0] != shares[1]);
}

TEST_CASE("samples are mixed with those behind them") {
  const std::vector<double> shares = {0.25, 0.9};
  for (const DType type : {DType::kF32, DType::kF64, DType::kF16}) {
    const Tensor mixed = train::mix_with_next(tensor({3, 2}, {4, 8, 1, 2, -1, 0.5}, type), shares);
    REQUIRE(mixed.dtype() == type);
    REQUIRE(mixed.dims() == Dims{2, 2});
    const double expected[] = {0.25 * 4 + 0.75 * 1, 0.25 * 8 + 0.75 * 2, 0.9 * 1 - 0.1, 0.9 * 2 + 0.1 * 0.5};
    for (size_t i = 0; i < 4; ++i)
      CHECK(to_doubles(mixed)[i] == Approx(expected[i]).epsilon(type == DType::kF16 ? 1e-3 : 1e-6));
  }
  CHECK(says(thrown_by([&] {
               train::mix_with_next(tensor({3}, {1, 2, 3}, DType::kI64), shares);
             }),
             "int64 3 cannot be mixed"));
}

}  // namespace mlopt::test
