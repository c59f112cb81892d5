#include "core/train/cost_model.h"

#include "tests/support/catch.h"

using namespace mlopt::train;

TEST_CASE("what a rank sends does not grow without bound where sums are handed on") {
  CHECK(all_reduce_bytes(1, 1000) == 0);
  CHECK(all_reduce_bytes(2, 1000) == 1000);
  CHECK(all_reduce_bytes(4, 1000) == 1500);
  CHECK(all_gather_bytes(1, 1000) == 0);
  CHECK(all_gather_bytes(4, 1000) == 3000);
  CHECK(broadcast_bytes(4, 1000) == 750);
}
