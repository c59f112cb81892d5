#include "core/rewrite/lower/key_masks.h"

#include <limits>

#include "core/tensor/cast.h"
#include "tests/support/catch.h"

using namespace mlopt;

namespace {

/// 1 where a key is seen.
std::vector<int> seen(const KeyWindow& window, int64_t queries, int64_t keys, int64_t past) {
  std::vector<int> shown;
  for (const double number : to_doubles(*lower::hidden_keys(window, queries, keys, past))) {
    CHECK((number == 0 || number == -std::numeric_limits<double>::infinity()));
    shown.push_back(number == 0);
  }
  return shown;
}

}  // namespace

TEST_CASE("keys are hidden by their distance from the query, which the past moves") {
  CHECK(seen({-1, 0}, 2, 3, 0) == std::vector<int>{1, 0, 0, 1, 1, 0});
  CHECK(seen({-1, 0}, 2, 3, 1) == std::vector<int>{1, 1, 0, 1, 1, 1});
  CHECK(seen({1, 0}, 3, 3, 0) == std::vector<int>{1, 0, 0, 1, 1, 0, 0, 1, 1});
  CHECK(seen({0, 1}, 2, 4, 1) == std::vector<int>{0, 1, 1, 0, 0, 0, 1, 1});
  CHECK(seen({0, 0}, 2, 2, 5) == std::vector<int>{0, 0, 0, 0});
  constexpr int64_t kFar = std::numeric_limits<int64_t>::max();
  CHECK(seen({kFar, kFar}, 1, 2, 1) == std::vector<int>{1, 1});
}

TEST_CASE("a window that is not valid has no mask") {
  CHECK_FALSE(lower::hidden_keys({-2, 0}, 2, 3, 0));
  CHECK_FALSE(lower::hidden_keys({-1, -2}, 2, 3, 0));
}

TEST_CASE("a mask that would be too large is none") { CHECK_FALSE(lower::hidden_keys({-1, 0}, 1 << 20, 1 << 20, 0)); }
