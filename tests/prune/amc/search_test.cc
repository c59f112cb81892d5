#include "prune/amc/search.h"

#include <algorithm>
#include <numeric>

#include "tests/support/catch.h"
#include "tests/support/thrown.h"

using namespace mlopt;
using prune::Episode;

namespace {

/// Groups that cost and are worth different amounts: what is lost grows with the square of the share.
struct Toy {
  std::vector<double> costs = {0.1, 0.3, 0.2, 0.3, 0.1}, worths = {0.02, 0.5, 0.03, 0.4, 0.05};
  int tried = 0;
  prune::Surroundings here;

  Toy() {
    for (size_t g = 0; g < costs.size(); ++g) here.groups.push_back({static_cast<double>(g), costs[g]});
    here.saves = costs;
    here.left = [this](std::span<const double> shares) {
      return 1 - std::inner_product(shares.begin(), shares.end(), costs.begin(), 0.0);
    };
    here.reward = [this](std::span<const double> shares) {
      ++tried;
      double worth = 1;
      for (size_t g = 0; g < shares.size(); ++g) worth -= worths[g] * shares[g] * shares[g];
      return worth;
    };
  }
};

prune::SearchSettings settings(int64_t episodes) {
  return {.budget = 0.5, .most = 0.9, .episodes = episodes, .seed = 4, .known = {}, .known_from = "F"};
}

double mean(const std::vector<Episode>& all, size_t first, size_t end) {
  double sum = 0;
  for (size_t e = first; e < end; ++e) sum += all[e].reward;
  return sum / static_cast<double>(end - first);
}

}  // namespace

TEST_CASE("every episode holds the budget, and none goes further than it may") {
  Toy toy;
  const std::vector<Episode> all = search_shares(toy.here, settings(60));
  REQUIRE(all.size() == 60);
  int on_the_edge = 0;
  for (const Episode& e : all) {
    CHECK(e.left <= 0.5 + 1e-6);
    CHECK(e.left == Approx(toy.here.left(e.shares)));
    on_the_edge += e.left > 0.499;
    for (const double share : e.shares) CHECK((share >= 0 && share <= 0.9 + 1e-6));
  }
  CHECK(on_the_edge > 10);  // clipped actions remove no more than is needed
  for (const double share : all[0].shares) CHECK(share == Approx(0.5).margin(1e-3));  // the same of all
}

TEST_CASE("the agent learns what can go") {
  Toy toy;
  const std::vector<Episode> all = search_shares(toy.here, settings(80));
  CHECK(mean(all, 70, 80) > mean(all, 1, 20) + 0.02);
  const Episode& best = all[prune::best_of(all)];
  CHECK(best.reward > all[0].reward + 0.04);
  CHECK(std::all_of(all.begin(), all.end(), [&](const Episode& e) { return e.reward <= best.reward; }));
}

TEST_CASE("a search that was cut off goes on to the same end") {
  Toy whole_toy;
  const std::vector<Episode> whole = search_shares(whole_toy.here, settings(40));
  Toy toy;
  prune::SearchSettings again = settings(40);
  again.known.assign(whole.begin(), whole.begin() + 25);
  int kept = 0;
  again.keep = [&](const std::vector<Episode>& episodes) { kept += episodes.size() > 25 ? 1 : 100; };
  const std::vector<Episode> rest = search_shares(toy.here, again);
  CHECK(toy.tried == 15);
  CHECK(kept == 15);
  REQUIRE(rest.size() == whole.size());
  for (size_t e = 0; e < whole.size(); ++e) {
    CHECK(rest[e].shares == whole[e].shares);
    CHECK(rest[e].reward == whole[e].reward);
  }
  again.seed = 5;
  const Error error = test::thrown_by([&] { search_shares(toy.here, again); });
  CHECK(error.code == Code::kBadInput);
  CHECK(error.message.find("another search") != std::string::npos);
}
