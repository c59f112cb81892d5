#include <algorithm>

#include "prune/prune.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"
#include "tests/support/shrunk.h"
#include "tests/support/thrown.h"

using namespace mlopt;
using prune::SplitBy;
using prune::Statistics;
using test::Shrunk;

namespace {

Shrunk shrink(const std::string& graph, int64_t opset = 21) {
  return test::shrink(graph, opset, SplitBy::kInner, Statistics::kOfTheRest);
}

/// Tokens are looked up; two heads of three, and four neurons, each behind a normalization; the end is a linear layer.
constexpr const char* kTransformer =
    R"(g (int64[N,S] ids, float[9,8] T, float[5,8] P, float[8] G, float[8] H, float[8,6] Q, float[8,6] K, float[8,6] V,
      float[6,8] O, float[8] I, float[8,4] U, float[4,8] W, float[8] J, float[8,7] L) => (float[N,S,7] y) {
      shape = Constant <value = int64[4] {0, 0, 2, 3}> ()
      back = Constant <value = int64[3] {0, 0, 6}> ()
      t = Gather (T, ids)
      third = Constant <value = int64[1] {3}> ()
      p = Gather (P, third)
      x = Add (t, p)
      n = LayerNormalization (x, G, H)
      q0 = MatMul (n, Q)
      q1 = Reshape (q0, shape)
      q = Transpose <perm = [0, 2, 1, 3]> (q1)
      k0 = MatMul (n, K)
      k1 = Reshape (k0, shape)
      k = Transpose <perm = [0, 2, 3, 1]> (k1)
      v0 = MatMul (n, V)
      v1 = Reshape (v0, shape)
      v = Transpose <perm = [0, 2, 1, 3]> (v1)
      s0 = MatMul (q, k)
      s = Softmax <axis = -1> (s0)
      c0 = MatMul (s, v)
      c1 = Transpose <perm = [0, 2, 1, 3]> (c0)
      c = Reshape (c1, back)
      o = MatMul (c, O)
      r = Add (x, o)
      m = RMSNormalization (r, I)
      u0 = MatMul (m, U)
      u = Relu (u0)
      w = MatMul (u, W)
      e = Add (r, w)
      f = LayerNormalization (e, J)
      y = MatMul (f, L)
    })";

}  // namespace

TEST_CASE("the width that all layers share is one group when statistics may be those of the rest") {
  const Shrunk made = shrink(kTransformer, 23);
  const auto wide = std::count_if(made.groups.groups.begin(), made.groups.groups.end(),
                                  [](const prune::Group& g) { return g.normalized; });
  CHECK(wide == 1);
  CHECK(made.shapes("TPGHQOIUWJL") == "T 9x4, P 5x4, G 4, H 4, Q 4x4, O 4x4, I 4, U 4x2, W 2x4, J 4, L 4x7");
  const Shrunk stays = test::shrink(kTransformer, 23);
  CHECK(stays.shapes("TL") == "T 9x8, L 8x7");
  CHECK(stays.pinned.find("its statistics are taken over this axis") != std::string::npos);
}

TEST_CASE("a normalization that is spelled out follows too") {
  const Shrunk made = shrink(R"(g (int64[N,S] ids, float[9,8] T, float[8] G, float[8,7] L) => (float[N,S,7] y) {
      two = Constant <value = float {2.0}> ()
      small = Constant <value = float {0.00001}> ()
      x = Gather (T, ids)
      m = ReduceMean <axes = [-1]> (x)
      d = Sub (x, m)
      d2 = Pow (d, two)
      v = ReduceMean <axes = [-1]> (d2)
      e = Add (v, small)
      s = Sqrt (e)
      n = Div (d, s)
      f = Mul (n, G)
      y = MatMul (f, L)
    })",
                             17);
  CHECK(made.shapes("TGL") == "T 9x4, G 4, L 4x7");
}

TEST_CASE("normalizations of com.microsoft add what skips, and give the sum") {
  const Shrunk made = shrink(R"(g (int64[N,S] ids, float[9,8] T, float[8] G, float[8] H, float[8] B, float[8,6] U,
        float[6,8] V, float[8] I, float[8,7] L) => (float[N,S,7] y) {
      x = Gather (T, ids)
      u = MatMul (x, U)
      v = MatMul (u, V)
      n, , , sum = com.microsoft.SkipLayerNormalization <epsilon = 0.001> (x, v, G, H, B)
      r, , , all = com.microsoft.SkipSimplifiedLayerNormalization <epsilon = 0.001> (sum, n, I)
      z = Add (r, all)
      y = MatMul (z, L)
    })",
                             17);
  CHECK(made.shapes("TGHBUVIL") == "T 9x4, G 4, H 4, B 4, U 4x3, V 3x4, I 4, L 4x7");
}

TEST_CASE("a width that is an output of the model stays, and says so") {
  const Model source = test::fixture(R"(g (int64[N,S] ids, float[9,8] T, float[8] G) => (float[N,S,8] y) {
      x = Gather (T, ids)
      y = LayerNormalization (x, G)
    })");
  prune::Means means;
  means.passes = test::pass_context();
  const Error error = test::thrown_by(
      [&] { prune::prune(source, prune::parse_spec("magnitude:granularity=embedding;sparsity=0.5"), means); });
  CHECK(error.code == Code::kBadInput);
  CHECK(test::says(error, "'y' is an output of the model"));
}
