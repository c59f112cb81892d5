#include "prune/masks.h"

#include "tests/support/catch.h"

using namespace mlopt;

TEST_CASE("of every M weights of a row the N best stay") {
  Weight w;
  w.rows = 2, w.columns = 8;
  const Matrix scores{2, 8, {4, 1, 3, 2, 1, 1, 1, 9, 1, 2, 3, 4, 8, 7, 6, 5}};
  const auto mask = prune::pattern_mask(w, scores, prune::parse_granularity("2:4"));
  CHECK(mask == std::vector<bool>{0, 1, 0, 1, 1, 1, 0, 0, 1, 1, 0, 0, 0, 0, 1, 1});
  const auto one = prune::pattern_mask(w, scores, prune::parse_granularity("1:8"));
  CHECK(std::count(one.begin(), one.end(), false) == 2);
  CHECK_FALSE(one[7]);
  CHECK_FALSE(one[12]);
}

TEST_CASE("the pattern of a convolution lies along its input channels") {
  Weight w;  // two places of a kernel, four channels
  w.rows = 1, w.columns = 8, w.kernel = 2;
  const Matrix scores{1, 8, {1, 8, 2, 7, 3, 6, 4, 5}};
  CHECK(prune::pattern_mask(w, scores, prune::parse_granularity("2:4")) == std::vector<bool>{1, 0, 1, 0, 0, 1, 0, 1});
}

TEST_CASE("inputs that are no multiple of M have no pattern") {
  Weight w;
  w.rows = 1, w.columns = 27, w.kernel = 9;
  CHECK(prune::pattern_problem(w, prune::parse_granularity("2:4")) == "its 3 inputs are no multiple of 4");
  w.columns = 36;
  CHECK(prune::pattern_problem(w, prune::parse_granularity("2:4")).empty());
}
