#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::gather_nd_to_slice;
using test::declined;
using test::rewritten;

namespace {

/// Element (i, k) of x for places i and k along these axes of a result of rank 4.
std::string gathered(const std::string& x, const std::string& y, const std::string& row, const std::string& column,
                     const std::string& columns = "i, k", const std::string& attributes = "") {
  return "g (bool[" + x + "] x, float[N,M] like) => (bool[" + y +
         "] y) <int64 zero = {0}, int64 one = {1}, int64[1] last = {-1}, int64[3] row = {" + row +
         "}, int64[3] col = {" + column +
         "}> { shape = Shape (like)  n = Gather (shape, zero)  m = Gather (shape, one) "
         "r = Range (zero, n, one)  c = Range (zero, m, one)  a = Unsqueeze (r, row)  b = Unsqueeze (c, col) "
         "both = Max (a, b)  all = Shape (both)  p = Expand (a, all)  q = Expand (b, all) "
         "i = Unsqueeze (p, last)  k = Unsqueeze (q, last)  at = Concat <axis = -1> (" +
         columns + ")  y = GatherND " + attributes + " (x, at) }";
}

}  // namespace

TEST_CASE("elements gathered in their order are only given another shape") {
  CHECK(rewritten(gather_nd_to_slice, gathered("N,M", "N,1,1,M", "1, 2, 3", "0, 1, 2"), 18) == "Unsqueeze");
  CHECK(rewritten(gather_nd_to_slice, gathered("N,M", "1,N,M,1", "0, 2, 3", "0, 1, 3"), 18) == "Unsqueeze");
}

TEST_CASE("of what may be longer, as many are taken as are counted") {
  CHECK(rewritten(gather_nd_to_slice, gathered("9,M", "N,1,1,M", "1, 2, 3", "0, 1, 2"), 18) ==
        "Shape Gather Range Unsqueeze Shape Slice Unsqueeze");
}

TEST_CASE("an axis of one element, whose index is 0, is not gathered along") {
  const auto text = [](const std::string& x, const std::string& index) {
    return "g (bool[" + x +
           ",M] x, float[M] like) => (bool[1,1,M,1] y) <int64 zero = {0}, int64 one = {1}, int64[1] last = {-1}, "
           "int64[3] places = {0, 1, 3}, int64[1,1,1,1] first = {" +
           index +
           "}> { n = Shape (like)  m = Squeeze (n)  c = Range (zero, m, one)  b = Unsqueeze (c, places)  all = Shape "
           "(b)  p = Expand (first, all)  i = Unsqueeze (p, last)  k = Unsqueeze (b, last)  at = Concat <axis = -1> "
           "(i, k)  y = GatherND (x, at) }";
  };
  CHECK(rewritten(gather_nd_to_slice, text("1", "0"), 18) == "Squeeze Unsqueeze");
  CHECK(declined(gather_nd_to_slice, text("2", "0"), 18) == "its indices do not count");
  CHECK(declined(gather_nd_to_slice, text("1", "-1"), 18) == "its indices do not count");
}

TEST_CASE("constant indices of all elements in their order are another shape") {
  const auto text = [](const std::string& indices, const std::string& x = "2,3") {
    return "g (float[" + x + "] x) => (float[3,1,2] y) <int64[3,1,2,2] at = {" + indices +
           "}> { y = GatherND (x, at) }";
  };
  CHECK(rewritten(gather_nd_to_slice, text("0, 0, 0, 1, 0, 2, 1, 0, 1, 1, 1, 2"), 12) == "Reshape");
  CHECK(rewritten(gather_nd_to_slice, text("0, 0, 0, -2, 0, -1, -1, 0, 1, 1, 1, 2"), 12) == "Reshape");
  CHECK(declined(gather_nd_to_slice, text("0, 0, 0, 2, 0, 1, 1, 0, 1, 1, 1, 2"), 12) == "its indices do not count");
  CHECK(declined(gather_nd_to_slice, text("0, 0, 0, 1, 0, 2, 1, 0, 1, 1, 1, 2", "2,4"), 12) ==
        "its indices do not count");
  CHECK(declined(gather_nd_to_slice, text("0, 0, 0, 1, 0, 2, 1, 0, 1, 1, 1, 2", "2,N"), 12) ==
        "its indices do not count");
}

TEST_CASE("indices that do not count through all of it stay") {
  CHECK(declined(gather_nd_to_slice, gathered("N,M", "1,M,N,1", "0, 1, 3", "0, 2, 3"), 18) == "it transposes");
  CHECK(declined(gather_nd_to_slice, gathered("M,N", "N,1,1,M", "1, 2, 3", "0, 1, 2", "k, i"), 18) == "it transposes");
  CHECK(declined(gather_nd_to_slice, gathered("N,M", "N,1,1,M", "1, 2, 3", "0, 1, 2"), 14) ==
        "Shape of one axis takes opset 15");
  CHECK(declined(gather_nd_to_slice, gathered("N,M,2", "N,1,1,M,2", "1, 2, 3", "0, 1, 2"), 18) ==
        "it gathers more than elements");
  CHECK(declined(gather_nd_to_slice, gathered("N,M", "N,1,1,M", "1, 2, 3", "0, 1, 2", "i, i"), 18) == "it transposes");
  std::string later = gathered("N,M", "N,1,1,M", "1, 2, 3", "0, 1, 2");
  later.replace(later.find("Range (zero, n"), 14, "Range (from, n")
      .replace(later.find("<int64 zero"), 1, "<int64 from = {-1}, ");
  CHECK(declined(gather_nd_to_slice, later, 18) == "its indices do not count");
}

TEST_CASE("what has no elements is not given another shape") {
  CHECK(declined(gather_nd_to_slice,
                 "g (double[3,0] x) => (double[0] y) <int64[0,2] at = {}> { y = GatherND (x, at) }") ==
        "its indices do not count");
}
