#include "core/rewrite/fusion/attention_past.h"

#include "core/rewrite/fusion/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using test::declined;
using test::rewritten;

namespace {

/// The pieces that a test may exchange for others.
struct Cached {
  std::string past = "float[B,4,P,4] pk, float[B,4,P,4] pv";
  std::string keys = "Concat <axis = 2> (pk, k1)", values = "Concat <axis = -2> (pv, v1)";
  std::string turned = "k", taken = "v";  ///< what is turned for the scores, what the probabilities multiply
  std::string between, scores = "s = Mul (p, half)", after = "ky = Identity (k)  vy = Identity (v)";
  std::string outputs = ", float[B,4,K,4] ky, float[B,4,K,4] vy", heads = "4", width = "16";
};

/// Attention of rows x over those of a cache and themselves.
std::string graph(const Cached& c) {
  return "g (float[B,N,16] x, " + c.past + ", float[B,1,N,P] m1, float[B,1,N,N] m2, float[16,16] Q, float[16," +
         c.width + "] K, float[16," + c.width + "] V) => (float[B,N,16] y" + c.outputs +
         ") <int64[4] split = {0, 0, 4, 4}, int64[4] shared = {0, 0, " + c.heads +
         ", 4}, int64[3] joint = {0, 0, 16}, int64[5] twice = {1, 1, 2, 1, 1}, int64[4] four = {0, 4, -1, 4}, "
         "int64[1] two = {2}, int64[1] three = {3}, float half = {0.5}> { q0 = MatMul (x, Q)  k0 = MatMul (x, K)  v0 = "
         "MatMul (x, V) "
         "q1 = Reshape (q0, split)  q = Transpose <perm = [0, 2, 1, 3]> (q1) "
         "k2 = Reshape (k0, shared)  k1 = Transpose <perm = [0, 2, 1, 3]> (k2) "
         "v2 = Reshape (v0, shared)  v1 = Transpose <perm = [0, 2, 1, 3]> (v2)  k = " +
         c.keys + "  v = " + c.values + "  " + c.between + "  kt = Transpose <perm = [0, 1, 3, 2]> (" + c.turned +
         ")  p = MatMul (q, kt)  " + c.scores + "  w = Softmax <axis = -1> (s)  o = MatMul (w, " + c.taken +
         ")  t = Transpose <perm = [0, 2, 1, 3]> (o)  y = Reshape (t, joint)  " + c.after + " }";
}

std::string fused(const Cached& c, Target target = Target::kOrt, int64_t opset = 17) {
  return rewritten(fusion::attention, graph(c), opset, 1e-4, target);
}

/// Two heads of the cache for four of queries.
Cached grouped() {
  Cached c;
  c.past = "float[B,2,P,4] pk, float[B,2,P,4] pv";
  c.outputs = ", float[B,2,K,4] ky, float[B,2,K,4] vy";
  c.heads = "2", c.width = "8", c.turned = "kr", c.taken = "vr";
  c.between =
      "k5 = Unsqueeze (k, two)  ke = Expand (k5, twice)  kr = Reshape (ke, four)  v5 = Unsqueeze (v, two) "
      "ve = Expand (v5, twice)  vr = Reshape (ve, four)";
  return c;
}

const std::string kMasked = "m = Concat <axis = 3> (m1, m2)  d = Mul (p, half)  s = Add (d, m)";

}  // namespace

TEST_CASE("keys and values behind those of the past are the operator's") {
  CHECK(fused({}) == "MatMul MatMul MatMul MultiHeadAttention Identity Identity");
  CHECK(fused({}, Target::kOnnx, 23) == "MatMul MatMul MatMul Attention Identity Identity");
  Cached c;
  c.after = "", c.outputs = "";
  CHECK(fused(c) == "MatMul MatMul MatMul MultiHeadAttention");
  c.outputs = ", float[B,4,K,4] k, float[B,4,K,4] v";
  CHECK(fused(c) == "MatMul MatMul MatMul MultiHeadAttention");
}

TEST_CASE("a mask of old and new keys is added") {
  Cached c;
  c.scores = kMasked;
  CHECK(fused(c) == "MatMul MatMul MatMul Concat MultiHeadAttention Identity Identity");
  CHECK(fused(c, Target::kOnnx, 23) == "MatMul MatMul MatMul Concat Attention Identity Identity");
}

TEST_CASE("a mask that may hold one number for all keys is repeated for ONNX Runtime") {
  Cached c;
  c.scores = "m = ReduceMean <keepdims = 1> (m1, three)  d = Mul (p, half)  s = Add (d, m)";
  CHECK(fused(c, Target::kOrt, 18).find("Expand MultiHeadAttention") != std::string::npos);
  CHECK(fused(c, Target::kOnnx, 23) ==
        "MatMul MatMul MatMul ReduceMean Shape Gather Concat Gather Shape Gather Add "
        "Concat Expand Attention Identity Identity");
}

TEST_CASE("heads that share keys and values of the past are the standard's") {
  CHECK(fused(grouped(), Target::kOnnx, 23) == "MatMul MatMul MatMul Attention Identity Identity");
  Cached c = grouped();
  c.scores = kMasked;
  CHECK(fused(c, Target::kOnnx, 23) == "MatMul MatMul MatMul Concat Attention Identity Identity");
  CHECK(declined(fusion::attention, graph(grouped()), 17, Target::kOrt) ==
        "groups of queries with a mask that is not causal");
}

TEST_CASE("what the operator does not put together stays outside") {
  const auto kept = [](const Cached& c) {
    CHECK(fused(c).find("Concat") != std::string::npos);
    CHECK(fused(c, Target::kOnnx, 23).find("Concat") != std::string::npos);
  };
  Cached c;
  c.keys = "Concat <axis = 2> (k1, pk)", c.values = "Concat <axis = 2> (v1, pv)";
  c.past = "float[B,4,N,4] pk, float[B,4,N,4] pv";  // what comes first is the past, wherever it is from
  CHECK(fused(c).find("MultiHeadAttention") != std::string::npos);
  c = {};
  c.values = "Concat <axis = 2> (pv, v1, v1)", c.keys = "Concat <axis = 2> (pk, k1, k1)";
  kept(c);
  c = {};
  c.between = "e = Neg (k)", c.after += "  z = Identity (e)", c.outputs += ", float[B,4,K,4] z";
  kept(c);
  c = {};
  c.values = "Concat <axis = 2> (pv, v1)", c.turned = "v", c.keys = "Identity (v)";
  kept(c);
}
