#include "core/rewrite/fusion/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using test::declined;
using test::rewritten;

namespace {

/// Attention of four heads, those of all samples as one axis, whose scores d `hidden` makes s of.
std::string graph(const std::string& hidden) {
  const auto heads = [](const std::string& name, const std::string& weight) {
    return name + "3 = MatMul (x, " + weight + ")  " + name + "4 = Reshape (" + name + "3, heads)  " + name +
           "t = Transpose <perm = [0, 2, 1, 3]> (" + name + "4)  " + name + " = Reshape (" + name + "t, rows)  ";
  };
  return "g (float[B,5,16] x, bool[B,5] m, float[5,5] c, float[16,20] A, float[16,16] Q, float[16,16] K, "
         "float[16,16] V) => (float[B,5,16] y) <int64[4] heads = {0, 0, 4, 4}, int64[3] rows = {-1, 5, 4}, int64[4] "
         "parted = {-1, 4, 5, 4}, int64[3] all = {0, 0, 16}, int64[3] square = {-1, 5, 5}, int64[4] keys = {-1, 1, 1, "
         "5}, int64[4] each = {1, 4, 1, 1}, int64[3] joined = {-1, 1, 5}, int64[1] l0 = {0}, int64[4] apart = {0, 0, "
         "4, 5}, float half = {0.5}, "
         "float zero = {0}, float low = {-1.0e20}> { " +
         heads("q", "Q") + heads("k", "K") + heads("v", "V") +
         "z = Transpose <perm = [0, 2, 1]> (k)  p = MatMul (q, z)  d = Mul (p, half)  n = Where (m, low, zero)  "
         "n4 = Reshape (n, keys)  e = Expand (n4, each)  " +
         hidden +
         "  w = Softmax <axis = -1> (s)  o = MatMul (w, v)  o4 = Reshape (o, parted)  "
         "t = Transpose <perm = [0, 2, 1, 3]> (o4)  y = Reshape (t, all) }";
}

std::string fused(const std::string& hidden) {
  return rewritten(fusion::fuse_attention, graph(hidden), 17, 1e-4, Target::kOrt);
}
std::string kept(const std::string& hidden) {
  return declined(fusion::fuse_attention, graph(hidden), 17, Target::kOrt);
}

}  // namespace

TEST_CASE("padding that was repeated for all heads and joined with them is padding") {
  CHECK(fused("j = Reshape (e, joined)  s = Add (d, j)") == "Not Cast Attention");
}

TEST_CASE("a sum with what is the same for all samples is added up with both axes") {
  CHECK(fused("j = Reshape (e, joined)  u = Unsqueeze (c, l0)  a = Add (u, j)  s = Add (d, a)") ==
        "Where Reshape Expand Unsqueeze Add Attention");
}

TEST_CASE("what each sample and head has of its own is parted") {
  CHECK(fused("a = MatMul (x, A)  j = Reshape (a, square)  s = Add (d, j)") == "MatMul Reshape Reshape Attention");
  CHECK(fused("a = MatMul (x, A)  b = Reshape (a, apart)  f = Transpose <perm = [0, 2, 1, 3]> (b)  "
              "j = Reshape (f, square)  s = Add (d, j)") == "MatMul Reshape Transpose Attention");
}

TEST_CASE("heads before samples are parted as the scores are, samples first") {
  CHECK(fused("h = Transpose <perm = [1, 0, 2, 3]> (e)  j = Reshape (h, joined)  s = Add (d, j)")
            .ends_with("Transpose Reshape Reshape Expand Attention"));
}

TEST_CASE("a condition of samples and heads as one axis stays") {
  CHECK(kept("a = MatMul (x, A)  j = Reshape (a, square)  b = Greater (j, zero)  s = Where (b, d, low)") ==
        "what hides keys has batch and heads as one axis");
}
