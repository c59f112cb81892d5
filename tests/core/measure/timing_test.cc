#include "core/measure/timing.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <string>
#include <thread>

#include "tests/support/catch.h"
#include "tests/support/thrown.h"

namespace mlopt {
namespace {

void sleep_ms(double ms) { std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(ms)); }

}  // namespace

TEST_CASE("blocks alternate, and the first run of each is not counted") {
  std::string order;
  const std::vector<Candidate> candidates = {[&](int) { order += 'a', sleep_ms(1); },
                                             [&](int) { order += 'b', sleep_ms(2); }};
  const auto blocks = time_interleaved(candidates, {.seconds = 0.02, .warmup = 0, .block = 0.004});
  REQUIRE(blocks.size() == 2);
  CHECK(blocks[0].size() >= 5);
  CHECK(blocks[0].size() == blocks[1].size());
  size_t counted = 0;
  for (const auto& side : blocks) counted += all_runs(side).size();
  CHECK(order.size() == counted + 2 * blocks[0].size());
  CHECK(order.substr(0, 2) == "aa");
  size_t changes = 0;
  for (size_t i = 1; i < order.size(); ++i) changes += order[i] != order[i - 1] ? 1 : 0;
  CHECK(changes == 2 * blocks[0].size() - 1);
  for (const double s : all_runs(blocks[1])) CHECK(s >= 0.002);
  CHECK(throughput(blocks[1]) < 500);
}

TEST_CASE("exactly so many runs are counted") {
  std::atomic<int> calls = 0;
  const std::vector<Candidate> one = {[&](int) { ++calls; }};
  CHECK(all_runs(time_interleaved(one, {.runs = 17, .warmup = 0})[0]).size() == 17);
  CHECK(calls == 18);
  const std::vector<Candidate> two = {one[0], [](int) {}};
  const auto blocks = time_interleaved(two, {.runs = 9, .warmup = 0, .block = 0});
  CHECK(all_runs(blocks[0]).size() == 9);
  CHECK(all_runs(blocks[1]).size() == 9);
  CHECK(blocks[0].size() == 9);
  CHECK(time_interleaved(two, {.runs = 9, .warmup = 0})[1].size() == 5);  // not one block of nine, which says nothing
}

TEST_CASE("streams run at the same time on threads of their own") {
  std::mutex mutex;
  std::set<std::thread::id> threads;
  int active = 0, most = 0;
  const std::vector<Candidate> candidates = {[&](int stream) {
    const auto step = [&](int change) {
      const std::lock_guard lock(mutex);
      threads.insert(std::this_thread::get_id());
      active += change;
      most = std::max(most, active);
      CHECK((stream >= 0 && stream < 3));
    };
    step(1);
    sleep_ms(2);
    step(-1);
  }};
  const auto blocks = time_interleaved(candidates, {.runs = 30, .warmup = 0, .block = 10, .streams = 3});
  CHECK(blocks[0].size() == 1);
  CHECK(all_runs(blocks[0]).size() == 30);
  CHECK(threads.size() == 3);
  CHECK(most > 1);
}

TEST_CASE("warming up takes its time, and a failing candidate ends the measurement") {
  int calls = 0;
  const std::vector<Candidate> slow = {[&](int) { ++calls, sleep_ms(5); }};
  time_interleaved(slow, {.runs = 1, .warmup = 0.02});
  CHECK(calls >= 1 + 1 + 2);
  const std::vector<Candidate> failing = {[](int) { input_error("bad"); }};
  for (const int streams : {1, 2}) {
    CHECK(test::says(test::thrown_by([&] { time_interleaved(failing, {.warmup = 0, .streams = streams}); }), "bad"));
  }
}

}  // namespace mlopt
