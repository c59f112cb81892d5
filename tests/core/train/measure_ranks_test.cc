#include "core/train/measure_ranks.h"

#include "tests/support/catch.h"
#include "tests/support/ranks.h"

using namespace mlopt;

TEST_CASE("the speed of sums over ranks is what a rank sends by the time that it takes") {
  std::vector<train::ReduceSpeed> speeds;
  test::with_ranks(2, [&](train::Communicator& ranks) {
    const auto found = train::measure_all_reduce(ranks);
    if (ranks.rank() == 0) speeds = found;
  });
  REQUIRE(speeds.size() >= 3);
  for (const train::ReduceSpeed& speed : speeds) {
    CHECK(speed.rounds >= 3);
    CHECK(speed.seconds > 0);
    // Of two ranks, each sends all that it has.
    CHECK(speed.sent_per_s == Approx(static_cast<double>(speed.bytes) / speed.seconds));
  }
}
