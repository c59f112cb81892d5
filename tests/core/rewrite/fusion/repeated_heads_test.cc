#include "core/rewrite/fusion/repeated_heads.h"

#include "core/rewrite/fusion/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;

namespace {

/// Causal attention of four heads of queries with two of keys and values, whose keys `turned` makes k of: of kt [B, 2,
/// N, 8], repeated as ke [B, 2, 2, N, 8].
std::string grouped(const std::string& turned) {
  return R"(g (float[B,N,32] x, float[32,32] Q, float[32,16] K, float[32,16] V) => (float[B,N,32] y)
    <int64[4] four = {0, 0, 4, 8}, int64[4] two = {0, 0, 2, 8}, int64[4] all = {0, 4, -1, 8}, int64[1] l2 = {2},
     int64[4] columns = {0, 4, 8, -1}, int64[5] twice = {1, 1, 2, 1, 1}, int64[3] joint = {0, 0, 32}, float zero = {0}, float hide = {-inf}, int64 i0 = {0}, int64 i1 = {1},
     int64[1] l0 = {0}, int64[1] l1 = {1}> {
    q3 = MatMul (x, Q)  k3 = MatMul (x, K)  v3 = MatMul (x, V)
    q4 = Reshape (q3, four)  k4 = Reshape (k3, two)  v4 = Reshape (v3, two)
    q = Transpose <perm = [0, 2, 1, 3]> (q4)  kt = Transpose <perm = [0, 2, 1, 3]> (k4)
    vt = Transpose <perm = [0, 2, 1, 3]> (v4)
    ku = Unsqueeze (kt, l2)  ke = Expand (ku, twice)
    vu = Unsqueeze (vt, l2)  ve = Expand (vu, twice)  v = Reshape (ve, all)
    )" + turned +
         R"(  p = MatMul (q, k)
    sh = Shape (x)  n = Gather (sh, i1)  r = Range (i0, n, i1)  cols = Unsqueeze (r, l0)  rows = Unsqueeze (r, l1)
    f = LessOrEqual (cols, rows)  e = Where (f, zero, hide)  s = Add (p, e)
    w = Softmax <axis = -1> (s)  o = MatMul (w, v)
    t = Transpose <perm = [0, 2, 1, 3]> (o)  y = Reshape (t, joint) })";
}

const std::string kBefore = "kr = Reshape (ke, all)  k = Transpose <perm = [0, 1, 3, 2]> (kr)",
                  kAfter = "kr = Transpose <perm = [0, 1, 2, 4, 3]> (ke)  k = Reshape (kr, columns)";

}  // namespace

TEST_CASE("heads that are repeated before or after they are turned are one operator's, which repeats them itself") {
  for (const std::string& turned : {kBefore, kAfter})
    CHECK(test::rewritten(fusion::fuse_attention, grouped(turned), 17, 1e-4, Target::kOrt) ==
          "Shape Gather Cast Sub Gather Expand MatMul GroupQueryAttention");
}

TEST_CASE("heads in another order, and what others read too, are written out") {
  const auto kept = [](const std::string& turned) {
    return test::declined(fusion::fuse_attention, grouped(turned), 17, Target::kOrt) ==
           "the heads do not fit one another";
  };
  CHECK(kept("kr = Transpose <perm = [0, 2, 1, 4, 3]> (ke)  k = Reshape (kr, columns)"));
  CHECK(kept(kAfter + "  other = Neg (ke)"));
  CHECK(kept(kAfter + "  other = Neg (kr)"));
  CHECK(kept(kBefore + "  other = Neg (kr)"));
}
