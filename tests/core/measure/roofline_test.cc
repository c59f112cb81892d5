#include "core/measure/roofline.h"

#include "backends/reference/backend.h"
#include "tests/support/catch.h"

using namespace mlopt;

TEST_CASE("a roofline is measured by what a backend runs") {
  const auto backend = reference_backend();
  const std::vector<Roofline> all =
      measure_rooflines(*backend, {1, 2}, {.size = 24, .copy_bytes = 1 << 16, .seconds = 0});
  REQUIRE(all.size() == 2);
  CHECK(all[0].threads == 1);
  const Roofline& found = all[1];
  CHECK(found.threads == 2);
  CHECK(found.size == 24);
  CHECK(found.copy_bytes == 1 << 16);
  REQUIRE(found.int8);
  for (const Rate& rate : {found.gflops, *found.int8, found.copy}) {
    CHECK(rate.runs == 3);
    CHECK(rate.median > 0);
    CHECK(rate.best >= rate.median);
  }
  const RooflineOptions small{.size = 2, .copy_bytes = 64, .seconds = 0, .int8 = false};
  CHECK_FALSE(measure_rooflines(*backend, {1}, small)[0].int8);
}

TEST_CASE("matrices are so large that a product ends in time") {
  const auto found =
      measure_rooflines(*reference_backend(), {1},
                        {.size = 1 << 15, .product_seconds = 1e-9, .copy_bytes = 64, .seconds = 0, .int8 = false});
  CHECK(found[0].size == 256);
}

TEST_CASE("the lower of both limits counts") {
  CHECK(attainable(100, 10, 1000, 10) == 100);   // 100 operations on a byte
  CHECK(attainable(100, 10, 1000, 1000) == 10);  // 1 on a byte
  CHECK(attainable(100, 10, 1000, 0) == 100);
}
