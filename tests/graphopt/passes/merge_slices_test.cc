#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::merge_slices;
using test::declined;
using test::rewritten;

TEST_CASE("Slices along different axes become one") {
  CHECK(rewritten(merge_slices, R"(g (double[N,5,6] x) => (double[N,2,3] y)
    <int64[1] s = {1}, int64[1] e = {3}, int64[1] one = {1}, int64[1] two = {-1}, int64[1] end = {-7}, int64[1] last = {5}, int64[1] back = {-2}>
    { a = Slice (x, s, e, one)  y = Slice (a, last, end, two, back) })") == "Slice");
  CHECK(rewritten(merge_slices, R"(g (double[N,5,6] x) => (double[N,2,3] y)
    { a = Slice <starts = [1], ends = [3], axes = [1]> (x)  y = Slice <starts = [0], ends = [3], axes = [2]> (a) })",
                  9) == "Slice");
}

TEST_CASE("Slices of one Slice each become one with it") {
  CHECK(rewritten(merge_slices, R"(g (double[N,5,6] x) => (double[N,2,3] y, double[N,2,3] z)
    <int64[1] s = {1}, int64[1] e = {3}, int64[1] one = {1}, int64[1] zero = {0}, int64[1] three = {3}, int64[1] two = {2}, int64[1] last = {6}>
    { a = Slice (x, s, e, one)  y = Slice (a, zero, three, two)  z = Slice (a, three, last, two) })") == "Slice Slice");
}

TEST_CASE("an axis that is turned round twice is as it was") {
  const auto graph = [](const std::string& first) {
    return R"(g (double[N,5] x) => (double[N,5] y) <int64[1] last = {-1}, int64[1] s = {4}, int64[1] before = {-6},
      int64[1] least = {-9223372036854775807}, int64[1] zero = {0}, int64[1] one = {1}, int64[1] back = {-1}>
    { a = Slice (x, )" +
           first + ")  b = Slice (a, last, least, one, back)  y = Neg (b) }";
  };
  CHECK(rewritten(merge_slices, graph("last, least, one, back")) == "Neg");
  CHECK(rewritten(merge_slices, graph("s, before, one, back")) == "Neg");
  CHECK(rewritten(merge_slices, graph("last, least, zero, back")) == "Slice Neg");
}

TEST_CASE("Slices along one axis, by computed limits, or that others read, stay") {
  CHECK(declined(merge_slices,
                 R"(g (double[N,5] x) => (double[N,2] y) <int64[1] s = {1}, int64[1] e = {4}, int64[1] a = {1}>
    { b = Slice (x, s, e, a)  y = Slice (b, s, e, a) })") == "both take a part of one axis");
  CHECK(
      declined(
          merge_slices,
          R"(g (double[N,5] x, int64[1] t) => (double[M,3] y) <int64[1] s = {1}, int64[1] e = {4}, int64[1] a = {1}, int64[1] z = {0}>
    { b = Slice (x, s, e, a)  y = Slice (b, z, t, z) })") == "its limits are not constant");
  CHECK(
      declined(
          merge_slices,
          R"(g (double[5,5] x) => (double[3,3] y, double[5,3] b) <int64[1] s = {1}, int64[1] e = {4}, int64[1] a = {1}, int64[1] z = {0}>
    { b = Slice (x, s, e, a)  y = Slice (b, s, e, z) })")
          .find("used elsewhere") != std::string::npos);
}
