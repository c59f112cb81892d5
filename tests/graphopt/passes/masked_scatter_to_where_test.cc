#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::masked_scatter_to_where;
using test::declined;
using test::rewritten;

namespace {

/// x [B, 3, 4] with `updates` where c, which tells of its first axes, holds.
std::string masked(const std::string& c, const std::string& updates, const std::string& attributes = "") {
  return "g (double[B,3,4] x, double[B,3,4] z, double[B,3] r, double one) => (double[B,3,4] y) "
         "<double zero = {0}, int64[2] last = {-1, 4}, int64[1] all = {0}> { " +
         c + "  n = NonZero (c)  at = Transpose <perm = [1, 0]> (n)  " + updates + "  y = ScatterND " + attributes +
         " (x, at, u) }";
}

const std::string kElements = "c = Greater (x, z)", kRows = "c = Greater (r, one)", kGathered = "u = GatherND (z, at)";

}  // namespace

TEST_CASE("elements of another value at the same places are chosen") {
  CHECK(rewritten(masked_scatter_to_where, masked(kElements, kGathered)) == "Greater Where");
  CHECK(rewritten(masked_scatter_to_where, masked(kRows, kGathered)) == "Greater Unsqueeze Where");
  const std::string expanded = "g = GatherND (z, at)  s = Shape (g)  u = Expand (g, s)";
  CHECK(rewritten(masked_scatter_to_where, masked(kElements, expanded)) == "Greater Where");
}

TEST_CASE("one number is chosen where the condition holds") {
  const std::string number = "g = GatherND (x, at)  s = Shape (g)  u = Expand (one, s)";
  CHECK(rewritten(masked_scatter_to_where, masked(kElements, number)) == "Greater Where");
}

TEST_CASE("other updates, other places and sums stay") {
  CHECK(declined(masked_scatter_to_where, masked(kElements, "g = GatherND (z, at)  u = Neg (g)")) ==
        "what it writes is not taken from such places");
  CHECK(declined(masked_scatter_to_where, masked(kElements, kGathered, "<reduction = \"add\">")) ==
        "it adds, or takes the largest");
  CHECK(declined(masked_scatter_to_where, masked("d = Greater (x, z)  c = Cast <to = 6> (d)", kGathered)).empty());
  CHECK(declined(masked_scatter_to_where, masked(kElements,
                                                 "d = Less (x, z)  k = NonZero (d)  a = Transpose <perm = [1, 0]> (k) "
                                                 "u = GatherND (z, a)")) ==
        "what it writes is not taken from such places");
  CHECK(declined(masked_scatter_to_where, masked(kRows, kGathered), 12) == "Unsqueeze takes its axes from opset 13 on");
}

TEST_CASE("a condition that is no list of places stays") {
  CHECK(declined(masked_scatter_to_where,
                 "g (double[3] x, double[3] z, bool c) => (double[3] y) { n = NonZero (c) "
                 "at = Transpose <perm = [1, 0]> (n)  u = GatherND (z, at)  y = ScatterND (x, at, "
                 "u) }")
            .empty());
}
