#include "core/tensor/dims.h"

#include "core/base/error.h"
#include "tests/support/catch.h"
#include "tests/support/thrown.h"

using namespace mlopt;
using test::says;
using test::thrown_by;

TEST_CASE("elements are counted, and impossible shapes refused before anything is allocated") {
  CHECK(element_count({}) == 1);
  CHECK(element_count({2, 3, 4}) == 24);
  CHECK(element_count({2, 0, 4}) == 0);
  CHECK(element_count({int64_t{1} << 48}) == int64_t{1} << 48);
  CHECK(says(thrown_by([] { element_count({int64_t{1} << 30, int64_t{1} << 30}); }), "too large"));
  CHECK(says(thrown_by([] { element_count({int64_t{1} << 62, 4}); }), "too large"));
  CHECK(says(thrown_by([] { element_count({0, INT64_MAX, INT64_MAX}); }), "too large"));
  CHECK(says(thrown_by([] { element_count({2, -1}); }), "negative"));
}

TEST_CASE("shapes are shown and strided row by row") {
  CHECK(to_string(Dims{1, 3, 224}) == "1x3x224");
  CHECK(to_string(Dims{}) == "scalar");
  CHECK(row_major_strides({2, 3, 4}) == Dims{12, 4, 1});
  CHECK(row_major_strides({}).empty());
}

TEST_CASE("axes count from either end") {
  CHECK(normalize_axis(-1, 4) == 3);
  CHECK(normalize_axis(0, 4) == 0);
  CHECK_THROWS_AS(normalize_axis(4, 4), Error);
  CHECK_THROWS_AS(normalize_axis(-5, 4), Error);
  CHECK_THROWS_AS(normalize_axis(0, 0), Error);
}

TEST_CASE("broadcasting follows NumPy") {
  CHECK(broadcast({3, 1, 5}, {4, 1}) == Dims{3, 4, 5});
  CHECK(broadcast({}, {2, 2}) == Dims{2, 2});
  CHECK(broadcast({1}, {0}) == Dims{0});
  const Error error = thrown_by([] { broadcast({2, 3}, {2, 4}); });
  CHECK((says(error, "2x3") && says(error, "2x4")));
  CHECK_THROWS_AS(broadcast({0}, {2}), Error);
}
