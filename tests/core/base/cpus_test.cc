#include "core/base/cpus.h"

#include <sched.h>

#include "tests/support/catch.h"
#include "tests/support/temp_dir.h"

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

TEST_CASE("one processor of each core, as the system tells which share one") {
  const mlopt::test::TempDir folder;
  const auto tell = [&](int cpu, const char* siblings) {
    folder.write("cpu" + std::to_string(cpu) + "/topology/thread_siblings_list", siblings);
  };
  tell(0, "0,4\n");
  tell(4, "0,4\n");
  tell(1, "1-2\n");
  tell(2, "1-2\n");
  CHECK(mlopt::first_of_each_core({0, 1, 2, 4}, folder.path()) == std::vector{0, 1});
  CHECK(mlopt::first_of_each_core({2, 4}, folder.path()) == std::vector{2, 4});
  CHECK(mlopt::first_of_each_core({7, 8}, folder.path()) == std::vector{7, 8});  // of which it does not tell
}

TEST_CASE("more threads than cores keep all processors") {
  cpu_set_t before, after;
  REQUIRE(sched_getaffinity(0, sizeof before, &before) == 0);
  mlopt::keep_to_cores(CPU_COUNT(&before) + 1);
  REQUIRE(sched_getaffinity(0, sizeof after, &after) == 0);
  CHECK(CPU_EQUAL(&before, &after));
}
