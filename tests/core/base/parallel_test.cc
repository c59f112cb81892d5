#include "core/base/parallel.h"

#include <atomic>
#include <stdexcept>
#include <vector>

#include "tests/support/catch.h"

using namespace mlopt;

TEST_CASE("every item is visited once, whatever the grain") {
  with_threads(4, [] {
    for (const int64_t n : {0, 1, 3, 1000})
      for (const int64_t grain : {0, 1, 7, 5000}) {
        std::vector<std::atomic<int>> visits(static_cast<size_t>(n));
        parallel_for(n, grain, [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) ++visits[static_cast<size_t>(i)];
        });
        for (const auto& count : visits) REQUIRE(count == 1);
      }
  });
}

TEST_CASE("work below the grain stays on one thread, more is shared") {
  std::atomic<int> calls{0};
  const auto ranges = [&](int64_t n, int64_t grain) {
    calls = 0;
    parallel_for(n, grain, [&](int64_t, int64_t) { ++calls; });
    return calls.load();
  };
  with_threads(4, [&] {
    CHECK(ranges(100, 100) == 1);
    CHECK(ranges(101, 100) == 2);
    CHECK(ranges(1000, 1) == 4);
  });
}

TEST_CASE("an exception in a range reaches the caller") {
  const auto run = [] {
    parallel_for(1000, 1, [](int64_t begin, int64_t) {
      if (begin > 0) throw std::runtime_error("in the middle");
    });
  };
  with_threads(4, [&] { CHECK_THROWS_AS(run(), std::runtime_error); });
}

TEST_CASE("inside a part nothing is shared") {
  std::atomic<int> calls{0};
  with_threads(4, [&] {
    parallel_for(4, 1, [&](int64_t, int64_t) { parallel_for(100, 1, [&](int64_t, int64_t) { ++calls; }); });
    CHECK(max_threads() == 4);
  });
  CHECK(calls == 4);
}

TEST_CASE("every item is somebody's turn once, and a worker has one at a time") {
  std::vector<std::atomic<int>> visits(1000);
  std::vector<std::atomic<int>> busy(3);
  std::atomic<int> overlaps{0};
  with_threads(3, [&] {
    take_turns(3, 1000, [&](int64_t worker, int64_t item) {
      overlaps += busy[static_cast<size_t>(worker)]++;
      ++visits[static_cast<size_t>(item)];
      --busy[static_cast<size_t>(worker)];
    });
  });
  for (const auto& count : visits) REQUIRE(count == 1);
  CHECK(overlaps == 0);
}

TEST_CASE("the thread count ends with its scope, and holds in a part of other work") {
  const int before = max_threads();
  with_threads(3, [&] {
    CHECK(max_threads() == 3);
    with_threads(0, [&] { CHECK(max_threads() == 3); });
    parallel_for(2, 1, [&](int64_t, int64_t) {
      if (max_threads() != 1) throw std::runtime_error("a part may be shared");
      with_threads(5, [] {
        if (max_threads() != 5) throw std::runtime_error("not what was asked for");
      });
    });
  });
  CHECK(max_threads() == before);
}
