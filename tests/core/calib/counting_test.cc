#include "core/calib/counting.h"

#include <limits>
#include <vector>

#include "core/base/rng.h"
#include "tests/support/catch.h"

namespace mlopt {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

/// As many numbers as leave some behind whole vectors, among them zeros, both infinities, NaN and the ends.
std::vector<float> numbers(size_t count) {
  Rng rng(count);
  std::vector<float> x;
  for (size_t i = 0; i < count; ++i) {
    const float special[] = {0, -0.0f, kInf, -kInf, std::numeric_limits<float>::quiet_NaN(), 4, -4, -1e-30f};
    x.push_back(i % 5 == 0 ? special[i / 5 % std::size(special)] : static_cast<float>(rng.uniform(-4, 4)));
  }
  return x;
}

}  // namespace

TEST_CASE("limits are those of the finite numbers") {
  for (const size_t count : {0, 1, 7, 16, 63, 1029}) {
    const std::vector<float> x = numbers(count);
    Limits expected;
    for (const float v : x) {
      if (!std::isfinite(v)) continue;
      expected.low = std::min(expected.low, v);
      expected.high = std::max(expected.high, v);
      ++expected.finite;
      expected.zeros += v == 0;
    }
    const Limits found = limits_of(x);
    INFO(count);
    CHECK(found.low == expected.low);
    CHECK(found.high == expected.high);
    CHECK(found.finite == expected.finite);
    CHECK(found.zeros == expected.zeros);
  }
}

TEST_CASE("every number is counted in the interval that it lies in") {
  constexpr int kBins = 64;
  const float inverse = kBins / 8.0f;  // of [-4, 4]
  for (const size_t count : {0, 3, 16, 511, 512, 2053}) {
    const std::vector<float> x = numbers(count);
    std::vector<uint32_t> tables(kBinTables * (kBins + 1)), found(kBins + 1), expected(kBins + 1);
    count_bins(x, inverse, kBins, tables);
    for (size_t i = 0; i < tables.size(); ++i) found[i % found.size()] += tables[i];
    for (const float v : x) {
      size_t bin = 0;
      while (std::isfinite(v) && bin + 1 < kBins &&
             !(static_cast<double>(v) < -4 + 0.125 * static_cast<double>(bin + 1)))
        ++bin;
      ++expected[std::isfinite(v) ? bin : kBins];
    }
    INFO(count);
    CHECK(found == expected);
  }
}

}  // namespace mlopt
