#include "core/base/checked.h"

#include "tests/support/catch.h"

using namespace mlopt;

TEST_CASE("sums and products that do not fit are nothing") {
  CHECK(checked_mul(3, -4) == -12);
  CHECK(checked_mul(INT64_MAX, 1) == INT64_MAX);
  CHECK_FALSE(checked_mul(int64_t{1} << 32, int64_t{1} << 31));
  CHECK_FALSE(checked_mul(INT64_MIN, -1));
  CHECK(checked_add(INT64_MAX - 1, 1) == INT64_MAX);
  CHECK_FALSE(checked_add(INT64_MAX, 1));
  CHECK_FALSE(checked_add(INT64_MIN, -1));
}
