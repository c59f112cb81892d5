#include "core/rewrite/fusion/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using test::declined;
using test::rewritten;

namespace {

/// The pieces that a test may exchange for others.
struct Parts {
  std::string q = "Transpose <perm = [0, 2, 1, 3]> (q4)", k = "kt", v = "vt", more = "";
  std::string attrs = "", mask = "", join = "Transpose <perm = [0, 2, 1, 3]> (o)", inputs = "";
  std::string heads = "4", width = "16";
};

std::string graph(const Parts& c) {
  return "g (float[B,N,16] x, float[16,16] Q, float[16," + c.width + "] K, float[16," + c.width + "] V" + c.inputs +
         ") => (float[B,N,16] y) <int64[4] split = {0, 0, 4, 4}, int64[4] shared = {0, 0, " + c.heads +
         ", 4}, int64[3] joint = {0, 0, 16}, int64[5] twice = {1, 1, 2, 1, 1}, int64[4] four = {0, 4, -1, 4}, int64[1] "
         "two = {2}> { q3 = MatMul (x, Q)  k3 = MatMul (x, K)  v3 = MatMul (x, V)  q4 = Reshape (q3, split)  "
         "k4 = Reshape (k3, shared)  v4 = Reshape (v3, shared)  q = " +
         c.q + "  kt = Transpose <perm = [0, 2, 1, 3]> (k4)  vt = Transpose <perm = [0, 2, 1, 3]> (v4)  " + c.more +
         "  o = Attention " + c.attrs + " (q, " + c.k + ", " + c.v + c.mask + ")  t = " + c.join +
         "  y = Reshape (t, joint) }";
}

std::string fused(const Parts& c = {}, Target target = Target::kOnnx) {
  return rewritten(fusion::fuse_attention_heads, graph(c), 23, 1e-5, target);
}
std::string kept(const Parts& c, Target target = Target::kOnnx) {
  return declined(fusion::fuse_attention_heads, graph(c), 23, target);
}

/// Two heads of keys for four of queries, repeated before.
Parts repeated() {
  Parts c;
  c.heads = "2", c.width = "8", c.k = "kr", c.v = "vr";
  c.more =
      "k5 = Unsqueeze (kt, two)  ke = Expand (k5, twice)  kr = Reshape (ke, four)  v5 = Unsqueeze (vt, two)  "
      "ve = Expand (v5, twice)  vr = Reshape (ve, four)";
  return c;
}

const std::string kMade = "MatMul MatMul MatMul ";

}  // namespace

TEST_CASE("Attention splits and joins heads by itself") {
  CHECK(fused() == kMade + "Attention");
  CHECK(fused({.attrs = "<is_causal = 1, scale = 0.3>"}) == kMade + "Attention");
  CHECK(fused({.mask = ", m", .inputs = ", bool[N,N] m"}) == kMade + "Attention");
}

TEST_CASE("a head of keys is for several of queries") {
  CHECK(fused(repeated()) == kMade + "Attention");
  CHECK(fused({.heads = "2", .width = "8"}) == kMade + "Attention");
}

TEST_CASE("the past is the operator's, but for a causal one whose keys would count from elsewhere") {
  Parts c{.k = "kc", .v = "vc", .inputs = ", float[B,4,P,4] pk, float[B,4,P,4] pv"};
  c.more = "kc = Concat <axis = 2> (pk, kt)  vc = Concat <axis = 2> (pv, vt)";
  CHECK(fused(c) == kMade + "Attention");
  c.attrs = "<is_causal = 1>";
  CHECK(fused(c) == kMade +
                        "Reshape Reshape Transpose Transpose Concat Concat Transpose Reshape Transpose Reshape "
                        "Attention");
}

TEST_CASE("the cap of scores stays") { CHECK(fused({.attrs = "<softcap = 2.0>"}) == kMade + "Attention"); }

TEST_CASE("the mask of the operator stays, whose rest is hidden where it has fewer keys") {
  for (const std::string mask : {"bool[B,1,1,N]", "float[B,1,1,N]", "float[N,1]", "bool[B,1,N,1]"}) {
    const Parts c{.mask = ", m", .inputs = ", " + mask + " m"};
    CHECK(fused(c) == kMade + "Attention");
    CHECK(fused(c, Target::kKernels) == kMade + "Attention");
  }
  Parts c{.k = "kc", .v = "vc", .mask = ", m", .inputs = ", float[B,4,P,4] pk, float[B,4,P,4] pv, float[N,1] m"};
  c.more = "kc = Concat <axis = 2> (pk, kt)  vc = Concat <axis = 2> (pv, vt)";
  CHECK(fused(c) == kMade + "Attention");
}

TEST_CASE("heads that are not joined, other results, and targets that want four axes stay") {
  CHECK(kept({.join = "Transpose <perm = [0, 3, 1, 2]> (o)"}) == "the heads are not joined");
  CHECK(kept({.q = "Transpose <perm = [0, 1, 2, 3]> (q4)"}) == "queries, keys or values are not split into heads");
  CHECK(kept({.attrs = "<softmax_precision = 1>"}) == "the attention gives, or takes, more than usual");
  CHECK(kept({}, Target::kTensorrt) == "the target wants attention in four axes");
}
