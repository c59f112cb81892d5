#include "prune/units.h"

#include <cmath>

#include "tests/support/catch.h"

using namespace mlopt;
using prune::Units;

TEST_CASE("a unit's score is the mean of its weights', also where it is cut off at the end") {
  const Units units{3, 3, 2, 2};
  const Matrix scores{3, 3, {1, 2, 3, 3, 4, 5, 6, 8, 9}};
  for (const auto& [unit, size] : {std::pair{0, 4}, {1, 2}, {2, 2}, {3, 1}}) CHECK(units.size(unit) == size);
  CHECK(prune::unit_scores(units, scores, scores, "l1") == std::vector<float>{2.5F, 4, 7, 9});
  const auto squares = prune::unit_scores(units, scores, scores, "l2");
  CHECK(squares[0] == Approx(std::sqrt(30.0 / 4)).epsilon(1e-6));
  CHECK(squares[3] == 9);
}

TEST_CASE("a unit of zeros goes first, whatever its score") {
  const Units units{1, 4, 1, 2};
  const Matrix scores{1, 4, {5, 5, 1, 1}}, values{1, 4, {0, 0, 0, 1}};
  CHECK(prune::unit_scores(units, scores, values, "l1") == std::vector<float>{-1, 1});
}

TEST_CASE("kernels are units of the columns that read one channel") {
  Weight conv;
  conv.rows = 2, conv.columns = 18, conv.kernel = 9;
  const Units units = prune::units_of(conv, prune::parse_granularity("kernel"));
  CHECK(units.count() == 4);
  CHECK(units.of(1, 8) == 2);
  CHECK(units.of(1, 9) == 3);
  CHECK(prune::units_of(conv, prune::parse_granularity("block=2x4")).across() == 5);
}
