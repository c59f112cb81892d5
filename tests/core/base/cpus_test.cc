#include "core/base/cpus.h"

#include <sched.h>

#include "tests/support/catch.h"

TEST_CASE("no more processors than the affinity mask allows") {
  cpu_set_t before, one;
  REQUIRE(sched_getaffinity(0, sizeof before, &before) == 0);
  CHECK(mlopt::available_cpus() >= 1);
  CHECK(mlopt::available_cpus() <= CPU_COUNT(&before));
  int first = 0;
  while (!CPU_ISSET(first, &before)) ++first;
  CPU_ZERO(&one);
  CPU_SET(first, &one);
  REQUIRE(sched_setaffinity(0, sizeof one, &one) == 0);
  CHECK(mlopt::available_cpus() == 1);
  CHECK(mlopt::launcher_cpus() >= 1);  // the parent's mask is its own
  sched_setaffinity(0, sizeof before, &before);
}
