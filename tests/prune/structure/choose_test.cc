#include "prune/structure/choose.h"

#include "tests/support/catch.h"

using namespace mlopt;
using prune::Removed;

TEST_CASE("each group loses its share of the lowest channels, the later of equal ones first") {
  const std::vector<std::vector<double>> scores = {{5, 1, 4, 2}, {1, 1, 1}, {7, 8}};
  const prune::Rounding exact = {.multiple = 1};
  CHECK(prune::choose_uniform(scores, 0.5, exact) == Removed{{1, 3}, {2}, {0}});
  CHECK(prune::choose_uniform(scores, 0, exact) == Removed{{}, {}, {}});
  CHECK(prune::choose_uniform(scores, 1, exact) == Removed{{1, 2, 3}, {1, 2}, {0}});
}

TEST_CASE("widths are rounded up, small groups only when asked") {
  std::vector<double> many(64), few(20);
  for (size_t i = 0; i < many.size(); ++i) many[i] = static_cast<double>(i);
  for (size_t i = 0; i < few.size(); ++i) few[i] = static_cast<double>(i);
  const auto kept = [&](const prune::Rounding& rounding) {
    const Removed removed = prune::choose_uniform({many, few}, 0.3, rounding);
    return std::vector<size_t>{64 - removed[0].size(), 20 - removed[1].size()};
  };
  CHECK(kept({.multiple = 1}) == std::vector<size_t>{45, 14});
  CHECK(kept({.multiple = 8}) == std::vector<size_t>{48, 14});
  CHECK(kept({.multiple = 16, .small_groups = true}) == std::vector<size_t>{48, 16});
}

TEST_CASE("over all groups the lowest go wherever they are, but some of each stay") {
  const std::vector<std::vector<double>> scores = {{0.1, 0.2, 0.3, 0.4}, {1, 2, 3, 0.15}};
  CHECK(prune::choose_global(scores, 0.5, {.multiple = 1}) == Removed{{0, 1, 2}, {3}});
}

TEST_CASE("what is below a threshold goes, at 0 what is nothing, and one stays") {
  CHECK(prune::choose_below({{1, 0.5, 2}, {1, 1}, {0.5, 0}}, 1) == Removed{{1}, {}, {1}});
  CHECK(prune::choose_below({{0, 1, 0, 2}, {0, 0}}, 0) == Removed{{0, 2}, {1}});
}
