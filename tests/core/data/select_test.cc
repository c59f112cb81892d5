#include "core/data/select.h"

#include <algorithm>
#include <set>

#include "tests/support/catch.h"
#include "tests/support/thrown.h"

namespace mlopt {
namespace {

using Indices = std::vector<int64_t>;

/// Classes of ten samples: 0 five times, 1 three times, 2 twice.
const Indices kClasses = {0, 0, 1, 0, 2, 1, 0, 0, 1, 2};

Indices chosen(const Selection& selection, bool labelled = true) {
  return select_samples(
      10, selection, 3,
      [labelled](int64_t i) { return labelled ? std::optional(kClasses[static_cast<size_t>(i)]) : std::nullopt; },
      "here");
}

}  // namespace

TEST_CASE("limit takes evenly from the classes, and from the front without classes") {
  CHECK(chosen({.limit = 3}) == Indices{0, 2, 4});
  CHECK(chosen({.limit = 6}) == Indices{0, 1, 2, 4, 5, 9});
  CHECK(chosen({.limit = 9}) == Indices{0, 1, 2, 3, 4, 5, 6, 8, 9});  // class 2 has two, the rest go to the others
  CHECK(chosen({.limit = 1}) == Indices{0});
  CHECK(chosen({.limit = 100}).size() == 10);
  CHECK(chosen({.limit = 4}, false) == Indices{0, 1, 2, 3});
}

TEST_CASE("the other ways to select, alone and in order") {
  CHECK(chosen({.per_class = 2}) == Indices{0, 1, 2, 4, 5, 9});
  CHECK(chosen({.every = 4}) == Indices{0, 4, 8});
  CHECK(chosen({.split = std::array{0.8, 1.0}}) == Indices{8, 9});
  CHECK(chosen({.split = std::array{2.0, 5.0}}) == Indices{2, 3, 4});
  CHECK(chosen({.per_class = 2, .every = 2, .split = std::array{0.0, 0.67}}) == Indices{0, 2});
}

TEST_CASE("a split goes to the very places that its shares name") {
  using Places = std::array<int64_t, 2>;
  CHECK(places_of({0, 0.29}, 100) == Places{0, 29});
  CHECK(places_of({0.57, 1}, 100) == Places{57, 100});
  CHECK(places_of({0.29, 0.58}, 100'000'000'000) == Places{29'000'000'000, 58'000'000'000});
  CHECK(places_of({0, 0.295}, 100) == Places{0, 29});
  CHECK(places_of({0, 1}, 7) == Places{0, 7});
  CHECK(places_of({2, 9}, 7) == Places{2, 7});
}

TEST_CASE("shuffle is a seeded permutation") {
  const Indices shuffled = chosen({.shuffle = true});
  CHECK(shuffled == chosen({.shuffle = true}));
  CHECK(shuffled != chosen({}));
  CHECK(std::set<int64_t>(shuffled.begin(), shuffled.end()).size() == 10);
  CHECK(shuffled != select_samples(
                        10, {.shuffle = true}, 4, [](int64_t) { return std::nullopt; }, "here"));
}

TEST_CASE("an empty selection and missing classes are errors") {
  CHECK(test::says(test::thrown_by([] { chosen({.per_class = 1}, false); }), "per-class needs labels"));
  CHECK(test::says(test::thrown_by([] { chosen({.split = std::array{50.0, 60.0}}); }), "no sample is left"));
  CHECK(test::says(test::thrown_by([] {
                     select_samples(
                         0, {}, 0, [](int64_t) { return std::nullopt; }, "d/");
                   }),
                   "d/"));
  const auto huge = [] {
    select_samples(
        int64_t{1} << 60, {}, 0, [](int64_t) { return std::nullopt; }, "d/");
  };
  CHECK(test::says(test::thrown_by(huge), "claim 1152921504606846976 samples"));
}

}  // namespace mlopt
