#include "samples/distill/spiral.h"

#include <cmath>

#include "tests/support/catch.h"
#include "tests/support/net.h"

namespace mlopt::test {

TEST_CASE("points of an arm lie where it winds, and the same seed draws the same points") {
  const NamedTensors some = spiral::points(300, 1, true), again = spiral::points(300, 1, true);
  REQUIRE(some.size() == 2);
  const auto x = some[0].second.span<float>(), same = again[0].second.span<float>();
  const auto labels = some[1].second.span<int64_t>();
  for (size_t i = 0; i < 300; ++i) {
    CHECK(x[2 * i] == same[2 * i]);
    const double radius = std::hypot(x[2 * i], x[2 * i + 1]) / 3;
    const double off = std::atan2(x[2 * i + 1], x[2 * i]) - 4 * radius - 2 * M_PI / 3 * static_cast<double>(labels[i]);
    CHECK(std::cos(off) > 0.5);  // within a third of the way to the next arm
  }
  CHECK(spiral::points(3, 1, false).size() == 1);
}

TEST_CASE("the network has the layers that were asked for") {
  CHECK(listed_ops(spiral::network(8, 3)) == "Gemm 4, Relu 3");
}

}  // namespace mlopt::test
