#include "core/train/share_tally.h"

#include "tests/support/catch.h"
#include "tests/support/ranks.h"

using namespace mlopt;

TEST_CASE("tallies of all ranks add up") {
  std::vector<Tally> all(3);
  test::with_ranks(3, [&](train::Communicator& ranks) {
    const int r = ranks.rank();
    Tally mine{1.5 + r, 10, 3.0 - r, 0.5 + r, 0.25, {{r, 1}, {7, 2}}, {{7, 5}}, {}};
    if (r == 2) mine.actual[4] = 9;
    all[static_cast<size_t>(r)] = share_tally(ranks, mine);
  });
  for (const Tally& tally : all) {
    CHECK(tally.sum == 7.5);
    CHECK(tally.weight == 30);
    CHECK(tally.peak == 3);
    CHECK(tally.share_sum == 4.5);
    CHECK(tally.share_gap == 0.75);
    CHECK(tally.true_positive == std::map<int64_t, int64_t>{{0, 1}, {1, 1}, {2, 1}, {7, 6}});
    CHECK(tally.predicted == std::map<int64_t, int64_t>{{7, 15}});
    CHECK(tally.actual == std::map<int64_t, int64_t>{{4, 9}});
  }
}
