#include "quantize/few_levels.h"

#include <cmath>
#include <limits>
#include <vector>

#include "quantize/nonuniform/tables.h"
#include "tests/support/catch.h"

using namespace mlopt;

TEST_CASE("each number has the place of the nearest value, up to the last whole vector") {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const float scale = 0.37f;
  for (const std::vector<float>& table :
       {quantize::nf4_table(), quantize::binary_table(), quantize::power_table(3), std::vector<float>{-1, 0, 1, 1}}) {
    std::vector<float> x = {kInfinity, -kInfinity, std::nanf(""), 0, -0.0f, 1e30f, -1e30f};
    for (int i = -300; i <= 300; ++i) x.push_back(static_cast<float>(i) * 0.0031f);
    std::vector<uint8_t> codes(x.size(), 99);
    const size_t done = quantize::FewLevels(table, scale).code(x, codes.data());
    CHECK(done > x.size() - 64);
    REQUIRE(done <= x.size());
    for (size_t i = 0; i < x.size(); ++i) {
      if (i >= done) {
        CHECK(codes[i] == 99);
        continue;
      }
      const float wanted = std::isnan(x[i]) ? 0 : x[i] / scale;
      size_t expected = 0;
      while (expected + 1 < table.size() && wanted > table[expected] + (table[expected + 1] - table[expected]) / 2)
        ++expected;
      CHECK(codes[i] == expected);
    }
  }
}
