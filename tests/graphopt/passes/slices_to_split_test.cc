#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::slices_to_split;
using test::declined;
using test::rewritten;

TEST_CASE("Slices that take a value apart become one Split") {
  const std::string limits =
      "<int64[1] a = {1}, int64[1] zero = {0}, int64[1] two = {2}, int64[1] big = {9223372036854775807}>";
  CHECK(rewritten(slices_to_split,
                  "g (double[N,5] x) => (double[N,3] p, double[N,2] q) " + limits +
                      "{ u = Slice (x, two, big, a)  v = Slice (x, zero, two, a)  p = Neg (u)  q = Exp (v) }") ==
        "Split Neg Exp");
  CHECK(rewritten(slices_to_split, R"(g (double[N,4] x) => (double[N,2] p, double[N,2] q)
    { p = Slice <axes = [1], starts = [0], ends = [2]> (x)  q = Slice <axes = [1], starts = [2], ends = [4]> (x) })",
                  9) == "Split");
}

TEST_CASE("Slices that overlap, leave a part out, have steps or a free axis stay") {
  const auto two = [](const std::string& dims, const std::string& first, const std::string& second) {
    return "g (double[" + dims + "] x) => (double[P] p, double[Q] q) <int64[1] a = {0}, int64[1] f = {" + first +
           "}, int64[1] zero = {0}, int64[1] s = {" + second +
           "}, int64[1] end = {100}> { p = Slice (x, zero, f, a)  q = Slice (x, s, end, a) }";
  };
  CHECK(declined(slices_to_split, two("5", "3", "2")).empty());
  CHECK(declined(slices_to_split, two("5", "2", "3")).empty());
  CHECK(declined(slices_to_split, two("N", "2", "2")).empty());
  CHECK(declined(slices_to_split, R"(g (double[4] x) => (double[2] q)
    <int64[1] a = {0}, int64[1] two = {2}, int64[1] end = {4}> { "" = Slice (x, a, two, a)  q = Slice (x, two, end, a) })")
            .empty());
  CHECK(declined(slices_to_split, R"(g (double[4] x) => (double[2] p, double[2] q)
    <int64[1] a = {0}, int64[1] one = {1}, int64[1] end = {4}, int64[1] two = {2}>
    { p = Slice (x, a, end, a, two)  q = Slice (x, one, end, a, two) })")
            .empty());
}
