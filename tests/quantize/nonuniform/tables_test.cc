#include "quantize/nonuniform/tables.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "tests/support/catch.h"

using namespace mlopt;
using namespace mlopt::quantize;

namespace {

void check_table(const std::vector<float>& table, size_t codes, size_t numbers) {
  CHECK(table.size() == codes);
  CHECK(std::is_sorted(table.begin(), table.end()));
  CHECK(std::set<float>(table.begin(), table.end()).size() == numbers);
  CHECK(std::max(-table.front(), table.back()) == 1);
}

}  // namespace

TEST_CASE("tables ascend to a magnitude of 1, with as many numbers as the format has") {
  check_table(binary_table(), 2, 2);
  check_table(nf4_table(), 16, 16);
  check_table(fp4_table(), 16, 15);
  check_table(float8_table(DType::kF8E4M3FN), 256, 253);  // without -0 and two NaN
  check_table(float8_table(DType::kF8E5M2), 256, 247);    // and two infinities, six NaN
  for (int bits = 2; bits <= 8; ++bits) {
    const size_t codes = size_t{1} << bits;
    check_table(power_table(bits), codes, codes - 1);
    check_table(additive_power_table(bits), codes, codes - 1);
  }
}

TEST_CASE("powers of two and their sums are those of the papers") {
  CHECK(power_table(3) == std::vector<float>{-1, -0.5f, -0.25f, 0, 0.25f, 0.5f, 1, 1});
  // 0, 1, 1/2, 1/8 and 0, 1/4 over 1.25; and for five bits 0, 1, 1/4, 1/16 and 0, 1/2, 1/8, 1/32.
  const std::vector<float> four = {0, 0.1f, 0.2f, 0.3f, 0.4f, 0.6f, 0.8f, 1};
  for (size_t i = 0; i < four.size(); ++i) CHECK(std::fabs(additive_power_table(4)[7 + i] - four[i]) < 1e-6f);
  const std::vector<float> five = additive_power_table(5);
  for (const double sum : {0.03125, 0.375, 1.125, 1.03125})
    CHECK(std::any_of(five.begin(), five.end(),
                      [&](float t) { return std::fabs(static_cast<double>(t) * 1.5 - sum) < 1e-6; }));
  CHECK(additive_power_table(3)[4] == 1.0f / 3);  // 0, 1/3, 2/3, 1: uniform, as the paper says
}

TEST_CASE("float8 tables hold the numbers of the format over its largest") {
  const std::vector<float> table = float8_table(DType::kF8E4M3FN);
  CHECK(std::find(table.begin(), table.end(), 1.0f / 448) != table.end());
  CHECK(std::find(table.begin(), table.end(), -416.0f / 448) != table.end());
}
