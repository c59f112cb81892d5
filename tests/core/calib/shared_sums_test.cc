#include "core/calib/shared_sums.h"

#include "tests/support/catch.h"

using namespace mlopt;

TEST_CASE("copies share numbers until one is changed") {
  SharedSums a(std::vector<float>{1, 2}), b = a;
  CHECK(b.shares_with(a));
  b.own()[0] = 5;
  CHECK_FALSE(b.shares_with(a));
  CHECK(a[0] == 1);
  CHECK(b == SharedSums({5, 2}));
  CHECK(SharedSums().size() == 0);
  CHECK(SharedSums().own().empty());
}
