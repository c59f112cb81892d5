#include "tests/support/catch.h"
#include "tests/support/shrunk.h"

using namespace mlopt;
using prune::SplitBy;
using test::shrink;
using test::Shrunk;

namespace {

constexpr const char* kAttention =
    R"(g (float[N,S,8] x, float[8,12] Q, float[8,12] K, float[8,12] V, float[12] B, float[12,8] O, float[8,16] U, float[16,8] W, float[8] G, float[8] H) => (float[N,S,8] y) {
      shape = Constant <value = int64[4] {0, 0, 3, 4}> ()
      back = Constant <value = int64[3] {0, 0, 12}> ()
      q0 = MatMul (x, Q)
      q1 = Add (q0, B)
      q2 = Reshape (q1, shape)
      q = Transpose <perm = [0, 2, 1, 3]> (q2)
      k0 = MatMul (x, K)
      k1 = Reshape (k0, shape)
      k = Transpose <perm = [0, 2, 3, 1]> (k1)
      v0 = MatMul (x, V)
      v1 = Reshape (v0, shape)
      v = Transpose <perm = [0, 2, 1, 3]> (v1)
      s0 = MatMul (q, k)
      s = Softmax <axis = -1> (s0)
      c0 = MatMul (s, v)
      c1 = Transpose <perm = [0, 2, 1, 3]> (c0)
      c = Reshape (c1, back)
      o = MatMul (c, O)
      r = Add (x, o)
      n = LayerNormalization (r, G, H)
      u0 = MatMul (n, U)
      u = Relu (u0)
      w = MatMul (u, W)
      y = Add (n, w)
    })";

}  // namespace

TEST_CASE("attention loses dimensions of all heads, and a network of neurons its inner ones") {
  const Shrunk made = shrink(kAttention, 17);
  CHECK(made.groups.groups.size() == 3);
  CHECK(made.shapes("QKVBOUWG") == "Q 8x6, K 8x6, V 8x6, B 6, O 6x8, U 8x8, W 8x8, G 8");
  CHECK(made.pinned.find("'x' is an input of the model") != std::string::npos);
}

TEST_CASE("attention loses whole heads") {
  const Shrunk made = shrink(kAttention, 17, SplitBy::kOuter);
  CHECK(made.groups.groups.size() == 2);
  CHECK(made.groups.groups[0].heads);
  CHECK(made.shapes("QKVBO") == "Q 8x8, K 8x8, V 8x8, B 8, O 8x8");  // two of three stay
}

TEST_CASE("grouped queries go with the keys and values that they share") {
  const Shrunk made =
      shrink(R"(g (float[1,S,8] x, float[8,16] Q, float[8,8] K, float[8,8] V, float[16,8] O) => (float[1,S,8] y) {
      shape = Constant <value = int64[4] {0, 0, 4, 4}> ()
      few = Constant <value = int64[4] {0, 0, 2, 4}> ()
      five = Constant <value = int64[1] {2}> ()
      times = Constant <value = int64[5] {1, 1, 2, 1, 1}> ()
      all = Constant <value = int64[4] {1, 4, -1, 4}> ()
      back = Constant <value = int64[3] {0, 0, 16}> ()
      q0 = MatMul (x, Q)
      q2 = Reshape (q0, shape)
      q = Transpose <perm = [0, 2, 1, 3]> (q2)
      k0 = MatMul (x, K)
      k1 = Reshape (k0, few)
      k2 = Transpose <perm = [0, 2, 1, 3]> (k1)
      k3 = Unsqueeze (k2, five)
      k4 = Expand (k3, times)
      k5 = Reshape (k4, all)
      k = Transpose <perm = [0, 1, 3, 2]> (k5)
      v0 = MatMul (x, V)
      v1 = Reshape (v0, few)
      v2 = Transpose <perm = [0, 2, 1, 3]> (v1)
      v3 = Unsqueeze (v2, five)
      v4 = Expand (v3, times)
      v = Reshape (v4, all)
      s0 = MatMul (q, k)
      s = Softmax <axis = -1> (s0)
      c0 = MatMul (s, v)
      c1 = Transpose <perm = [0, 2, 1, 3]> (c0)
      c = Reshape (c1, back)
      y = MatMul (c, O)
    })",
             17, SplitBy::kOuter);
  REQUIRE(made.groups.groups.size() == 1);
  CHECK(made.shapes("QKVO") == "Q 8x8, K 8x4, V 8x4, O 8x8");
}
