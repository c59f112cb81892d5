#include "core/base/rng.h"

#include <map>

#include "tests/support/catch.h"

using namespace mlopt;

TEST_CASE("the sequence of a seed is that of the published generator") {
  // xoshiro256** seeded by splitmix64(0): the reference implementation's first outputs.
  Rng rng(0);
  CHECK(rng.next() == 0x99ec5f36cb75f2b4ULL);
  CHECK(rng.next() == 0xbf6e1f784956452aULL);
  CHECK(rng.next() == 0x1a5f849d4933e6e0ULL);
  Rng same(7), again(7), other(8);
  CHECK(same.next() == again.next());
  CHECK(same.next() != other.next());
}

TEST_CASE("numbers keep within their limits and cover them") {
  Rng rng(1);
  std::map<int64_t, int> seen;
  for (int i = 0; i < 6000; ++i) ++seen[rng.integer(-2, 3)];
  CHECK(seen.size() == 6);
  CHECK(seen.begin()->first == -2);
  CHECK(seen.rbegin()->first == 3);
  for (const auto& [value, count] : seen) CHECK(count == Approx(1000).epsilon(0.15));
  CHECK(rng.integer(5, 5) == 5);
  rng.integer(INT64_MIN, INT64_MAX);  // the span of 2^64 does not divide by zero
  for (int i = 0; i < 1000; ++i) {
    const double u = rng.uniform(-1, 2);
    CHECK((u >= -1 && u < 2));
  }
}

TEST_CASE("normal numbers have mean 0, variance 1 and normal tails") {
  Rng rng(2);
  constexpr int kCount = 20000;
  double sum = 0, squares = 0;
  int beyond_two = 0;
  for (int i = 0; i < kCount; ++i) {
    const double x = rng.normal();
    sum += x;
    squares += x * x;
    beyond_two += std::fabs(x) > 2;
  }
  CHECK(std::fabs(sum / kCount) < 0.03);                               // 4 standard errors
  CHECK(squares / kCount == Approx(1).epsilon(0.04));                  // 4 standard errors
  CHECK(beyond_two / double{kCount} == Approx(0.0455).epsilon(0.13));  // 4 standard errors
}

TEST_CASE("a seed follows from its numbers and their order") {
  CHECK(scrambled(kGolden) == 0xe220a8397b1dcdafULL);  // splitmix64(0): the reference implementation's first output
  std::map<uint64_t, int> seen;
  for (uint64_t a = 0; a < 20; ++a)
    for (uint64_t b = 0; b < 20; ++b) ++seen[seed_of({a, b})];
  CHECK(seen.size() == 400);
  CHECK(seed_of({1, 2}) == seed_of({1, 2}));
}
