#include "core/base/parallel.h"

#include <atomic>
#include <mutex>
#include <stdexcept>
#include <vector>

#include "tests/support/catch.h"

using namespace mlopt;

TEST_CASE("every item is visited once, whatever the grain") {
  const ThreadScope threads(4);
  for (const int64_t n : {0, 1, 3, 1000})
    for (const int64_t grain : {0, 1, 7, 5000}) {
      std::vector<std::atomic<int>> visits(static_cast<size_t>(n));
      parallel_for(n, grain, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) ++visits[static_cast<size_t>(i)];
      });
      for (const auto& count : visits) REQUIRE(count == 1);
    }
}

TEST_CASE("work below the grain stays on one thread, more is shared") {
  const ThreadScope threads(4);
  std::mutex mutex;
  const auto ranges = [&](int64_t n, int64_t grain) {
    int calls = 0;
    parallel_for(n, grain, [&](int64_t, int64_t) {
      const std::lock_guard lock(mutex);
      ++calls;
    });
    return calls;
  };
  CHECK(ranges(100, 100) == 1);
  CHECK(ranges(101, 100) == 2);
  CHECK(ranges(1000, 1) == 4);
}

TEST_CASE("an exception in a range reaches the caller") {
  const ThreadScope threads(4);
  const auto run = [] {
    parallel_for(1000, 1, [](int64_t begin, int64_t) {
      if (begin > 0) throw std::runtime_error("in the middle");
    });
  };
  CHECK_THROWS_AS(run(), std::runtime_error);
}

TEST_CASE("inside a parallel region nothing is started") {
  const ThreadScope threads(4);
  std::atomic<int> calls{0};
  parallel_for(4, 1, [&](int64_t, int64_t) { parallel_for(100, 1, [&](int64_t, int64_t) { ++calls; }); });
  CHECK(calls == 4);
}

TEST_CASE("the thread count ends with its scope") {
  const int before = omp_get_max_threads();
  {
    const ThreadScope three(3);
    CHECK(omp_get_max_threads() == 3);
    const ThreadScope unchanged(0);
    CHECK(omp_get_max_threads() == 3);
  }
  CHECK(omp_get_max_threads() == before);
}
