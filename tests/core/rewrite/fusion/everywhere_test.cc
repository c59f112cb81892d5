#include "core/rewrite/fusion/everywhere.h"

#include "core/rewrite/fusion/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using test::declined;
using test::rewritten;

namespace {

/// And with `condition`, of c = 0, 1, 2, ... and conditions t and f.
std::string beside(const std::string& condition) {
  return "g (float[N] x, bool[N] z) => (bool[N] y) <int64 i0 = {0}, int64 i1 = {1}, int64[1] l0 = {0}, int64[1] l1 = "
         "{1}, bool t = {1}, bool f = {0}> { n = Shape (x)  s = Squeeze (n)  c = Range (i0, s, i1)  d = Range (i1, s, "
         "i1)  w = Expand (t, n)  v = Expand (f, n)  k = " +
         condition + "  y = And (k, z) }";
}

bool holds(const std::string& condition) {
  return rewritten(fusion::fold_known_mask, beside(condition), 18).find("And") == std::string::npos;
}
bool stays(const std::string& condition) {
  return declined(fusion::fold_known_mask, beside(condition), 18) == "no condition always holds";
}

}  // namespace

TEST_CASE("a condition holds everywhere by arithmetic with what is the same everywhere") {
  CHECK(holds("Equal (c, c)"));
  CHECK(holds("Not (v)"));
  CHECK(holds("And (w, w)"));
  CHECK(holds("Equal (v, f)"));
  CHECK(holds("Cast <to = 9> (w)"));
  CHECK(stays("Equal (c, i1)"));
  CHECK(stays("Not (w)"));
  // One element less.
  CHECK(stays("Equal (c, d)"));
}

TEST_CASE("what counts along two axes, or in other steps, is not the same") {
  const auto kept = [](const std::string& condition) {
    return declined(fusion::fold_known_mask,
                    "g (float[N] x, bool[N,N] z) => (bool[N,N] y) <int64 i0 = {0}, int64 i1 = {1}, int64 i2 = {2}, "
                    "int64[1] l0 = {0}, int64[1] l1 = {1}> { n = Shape (x)  s = Squeeze (n)  c = Range (i0, s, i1)  "
                    "e = Range (i0, s, i2)  a = Unsqueeze (c, l0)  b = Unsqueeze (c, l1)  k = " +
                        condition + "  y = And (k, z) }",
                    18);
  };
  CHECK(kept("Equal (a, b)") == "no condition always holds");
  CHECK(kept("Equal (c, e)") == "no condition always holds");
}
