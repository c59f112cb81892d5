#include "core/base/align.h"

#include "tests/support/catch.h"

TEST_CASE("sizes are rounded up to whole cache lines") {
  CHECK(mlopt::aligned_size(0) == 0);
  CHECK(mlopt::aligned_size(1) == 64);
  CHECK(mlopt::aligned_size(64) == 64);
  CHECK(mlopt::aligned_size(65) == 128);
}
