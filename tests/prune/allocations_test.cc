#include "prune/allocations.h"

#include <algorithm>
#include <cmath>

#include "core/base/rng.h"
#include "tests/support/catch.h"

using namespace mlopt;
using prune::Candidate;
using prune::Rivals;

namespace {

Candidate candidate(int64_t rows, int64_t columns, std::vector<float> scores) {
  Candidate c;
  c.units = {rows, columns};
  c.scores = std::move(scores);
  c.removed.resize(c.scores.size());
  return c;
}

using Mask = std::vector<bool>;

}  // namespace

TEST_CASE("a share of a layer is what scores least, of equal ones the first") {
  Candidate c = candidate(2, 3, {5, 1, 4, 2, 2, 6});
  prune::remove_share(c, 0.5, Rivals::kLayer);
  CHECK(c.removed == Mask{0, 1, 0, 1, 1, 0});
  Candidate tied = candidate(1, 4, {1, 1, 1, 1});
  prune::remove_share(tied, 0.5, Rivals::kLayer);
  CHECK(tied.removed == Mask{1, 1, 0, 0});
}

TEST_CASE("where rows are rivals each loses the same share") {
  Candidate c = candidate(2, 4, {1, 2, 3, 4, 10, 20, 40, 30});
  prune::remove_share(c, 0.5, Rivals::kRow);
  CHECK(c.removed == Mask{1, 1, 0, 0, 1, 1, 0, 0});
}

TEST_CASE("none and all can go, and what was gone goes first") {
  for (const double share : {0.0, 1.0}) {
    Candidate c = candidate(1, 3, {0, 2, 1});
    prune::remove_share(c, share, Rivals::kLayer);
    CHECK(std::count(c.removed.begin(), c.removed.end(), true) == (share == 0 ? 0 : 3));
  }
  Candidate c = candidate(1, 4, {0, -1, 0, -1});
  prune::remove_share(c, 0.5, Rivals::kLayer);
  CHECK(c.removed == Mask{0, 1, 0, 1});
}

TEST_CASE("units of several sizes come as near to the share as they can") {
  Candidate c = candidate(3, 3, {});
  c.units = {3, 3, 2, 2};  // of 4, 2, 2 and 1 weights
  c.scores = {1, 3, 2, 4};
  c.removed.assign(4, false);
  prune::remove_share(c, 0.5, Rivals::kLayer);  // 4.5, rounded to 5, of 9
  CHECK(c.removed == Mask{1, 0, 1, 0});
}

TEST_CASE("global takes the least of all layers, as sorting would") {
  Rng rng(3);
  std::vector<Candidate> layers;
  std::vector<float> all;
  for (int i = 0; i < 3; ++i) {
    std::vector<float> scores(200);
    for (float& x : scores) all.push_back(x = static_cast<float>(rng.normal() * (i + 1)));
    layers.push_back(candidate(10, 20, scores));
  }
  prune::allocate_global(layers, 0.35, Rivals::kLayer);
  std::sort(all.begin(), all.end());
  for (const Candidate& c : layers)
    for (size_t u = 0; u < c.scores.size(); ++u) CHECK(c.removed[u] == (c.scores[u] < all[210]));
}

TEST_CASE("uniform takes the same share of each layer") {
  std::vector<Candidate> layers = {candidate(1, 4, {1, 2, 3, 4}), candidate(1, 4, {100, 200, 400, 300})};
  prune::allocate_uniform(layers, 0.5, Rivals::kLayer);
  CHECK(layers[0].removed == Mask{1, 1, 0, 0});
  CHECK(layers[1].removed == Mask{1, 1, 0, 0});
}

TEST_CASE("lamp takes what is the least share of what its layer keeps") {
  std::vector<Candidate> layers = {candidate(1, 3, {1, 2, 3}), candidate(1, 3, {10, 10, 20})};
  // Squares over the sums of those not less: 1/14, 4/13, 1 and 100/600, 100/500, 1 (of equal ones the last is kept
  // longest).
  for (const auto& [share, wanted] : std::vector<std::pair<double, std::vector<Mask>>>{
           {1.0 / 6, {{1, 0, 0}, {0, 0, 0}}}, {0.5, {{1, 0, 0}, {1, 1, 0}}}, {4.0 / 6, {{1, 1, 0}, {1, 1, 0}}}}) {
    std::vector<Candidate> fresh = layers;
    prune::allocate_lamp(fresh, share, Rivals::kLayer);
    CHECK(fresh[0].removed == wanted[0]);
    CHECK(fresh[1].removed == wanted[1]);
  }
}

TEST_CASE("erk takes more of layers with many weights for their inputs and outputs, and none of the least") {
  std::vector<Weight> weights(3);
  weights[0].rows = 2, weights[0].columns = 2;
  weights[1].rows = 20, weights[1].columns = 20;
  weights[2].rows = 40, weights[2].columns = 20;
  std::vector<Candidate> layers;
  for (const auto& w : weights) {
    std::vector<float> scores(static_cast<size_t>(w.size()));
    for (size_t i = 0; i < scores.size(); ++i) scores[i] = static_cast<float>(i);
    layers.push_back(candidate(w.rows, w.columns, scores));
    layers.back().weight = &w;
  }
  prune::allocate_erk(layers, 0.7, Rivals::kLayer);
  // The first would be more than dense and stays; of the others 0.3 * 1204 - 4 stay, as 40 to 60.
  const auto kept = [&](size_t i) { return std::count(layers[i].removed.begin(), layers[i].removed.end(), false); };
  CHECK(kept(0) == 4);
  CHECK(std::abs(static_cast<double>(kept(1)) - 357.2 * 0.4) < 1);
  CHECK(std::abs(static_cast<double>(kept(2)) - 357.2 * 0.6) < 1);
}
