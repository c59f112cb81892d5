#include <map>

#include "backends/reference/backend.h"
#include "core/ir/dump.h"
#include "core/ir/verify.h"
#include "core/onnx/infer.h"
#include "core/onnx/io.h"
#include "prune/structure/propagate.h"
#include "prune/structure/prove.h"
#include "prune/structure/remove.h"
#include "prune/structure/score.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using namespace mlopt::prune;

namespace {

struct Shrunk {
  Model model;
  Groups groups;
  Difference difference;  ///< from the original whose channels are masked

  /// "V 8x3x3x3, W ...": constants that are smaller now.
  std::string shapes(const std::string& names) const {
    std::string all;
    for (const char c : names) {
      const Value* v = model.graph->find(std::string(1, c));
      all += (all.empty() ? "" : ", ") + std::string(1, c) + " " + (v ? to_string(v->constant->dims()) : "gone");
    }
    return all;
  }
};

/// Half of the channels of every group at random.
Shrunk shrink(const std::string& graph, int64_t opset = 21, SplitBy split = SplitBy::kInner) {
  static const std::unique_ptr<Backend> backend = reference_backend();
  Model model = test::fixture(graph, opset);
  infer(model, standard_types);
  const Relations all = relate_axes(model, split);
  Shrunk made{{}, find_groups(all), {}};
  for (const PinnedGroup& p : made.groups.pinned)
    UNSCOPED_INFO(p.node->label() << ": " << p.channels << " stay: " << p.reason);
  const auto scores = score_channels(all, made.groups.groups, ChannelScore::kRandom, 3);
  const Removed removed = choose_uniform(scores, 0.5, {.multiple = 1});
  made.model = remove_channels(model, all, made.groups.groups, removed, standard_types);
  INFO(dump(*made.model.graph));
  REQUIRE(verify(made.model) == std::vector<std::string>{});
  const Model masked = mask_channels(model, all, made.groups.groups, removed);
  made.difference = pruned_from_masked(masked, made.model, Runner{*backend, [](Model&) {}}, 7);
  CHECK(made.difference.max_expected > 1e-3);
  CHECK(made.difference.max_abs <= 1e-5 * made.difference.max_expected);
  return made;
}

}  // namespace

TEST_CASE("a chain of convolutions loses the channels between them") {
  const Shrunk made =
      shrink(R"(g (float[N,3,8,8] x, float[8,3,3,3] V, float[8] B, float[4,8,1,1] W) => (float[N,4,6,6] y) {
      a = Conv (x, V, B)
      r = Relu (a)
      y = Conv (r, W)
    })");
  CHECK(made.shapes("VBW") == "V 4x3x3x3, B 4, W 4x4x1x1");
  REQUIRE(made.groups.pinned.size() == 1);
  CHECK(made.groups.pinned[0].reason.find("'y' is an output") != std::string::npos);
}

TEST_CASE("a residual addition ties both of its sides") {
  const Shrunk made = shrink(
      R"(g (float[1,3,4,4] x, float[8,3,1,1] U, float[8,8,1,1] V, float[8,8,1,1] W, float[2,8,1,1] H) => (float[1,2,4,4] y) {
      s = Conv (x, U)
      a = Conv (s, V)
      b = Relu (a)
      c = Conv (b, W)
      d = Add (s, c)
      y = Conv (d, H)
    })");
  CHECK(made.groups.groups.size() == 2);
  CHECK(made.shapes("UVWH") == "U 4x3x1x1, V 4x4x1x1, W 4x4x1x1, H 2x4x1x1");
}

TEST_CASE("channels pass through Concat, Split and Slice to where they come from") {
  const Shrunk made = shrink(
      R"(g (float[1,3,4,4] x, float[8,3,1,1] U, float[6,3,1,1] V, float[4,4,1,1] W, float[2,14,1,1] H) => (float[1,2,4,4] y) {
      a = Conv (x, U)
      b = Conv (x, V)
      l, r = Split <axis = 1, num_outputs = 2> (a)
      s = Conv (l, W)
      start = Constant <value = int64[1] {0}> ()
      end = Constant <value = int64[1] {6}> ()
      axis = Constant <value = int64[1] {1}> ()
      t = Slice (b, start, end, axis)
      c = Concat <axis = 1> (s, r, t)
      y = Conv (c, H)
    })");
  CHECK(made.groups.groups.size() == 4);
  CHECK(made.shapes("UVWH") == "U 4x3x1x1, V 3x3x1x1, W 2x2x1x1, H 2x7x1x1");
}

TEST_CASE("grouped convolutions lose the same positions of every group, depthwise ones whole multiples") {
  const Shrunk made = shrink(
      R"(g (float[1,3,4,4] x, float[8,3,1,1] U, float[8,4,1,1] V, float[16,1,3,3] D, float[2,16,1,1] H) => (float[1,2,2,2] y) {
      a = Conv (x, U)
      b = Conv <group = 2> (a, V)
      c = Conv <group = 8> (b, D)
      y = Conv (c, H)
    })");
  CHECK(made.shapes("UVDH") == "U 4x3x1x1, V 4x2x1x1, D 8x1x3x3, H 2x8x1x1");
}

TEST_CASE("a squeeze-and-excitation block follows the channels that it scales") {
  const Shrunk made = shrink(
      R"(g (float[1,3,4,4] x, float[8,3,1,1] U, float[4,8,1,1] V, float[8,4,1,1] W, float[2,8,1,1] H) => (float[1,2,4,4] y) {
      a = Conv (x, U)
      p = GlobalAveragePool (a)
      s = Conv (p, V)
      r = Relu (s)
      e = Conv (r, W)
      q = Sigmoid (e)
      m = Mul (a, q)
      y = Conv (m, H)
    })");
  CHECK(made.shapes("UVWH") == "U 4x3x1x1, V 2x4x1x1, W 4x2x1x1, H 2x4x1x1");
}

TEST_CASE("Flatten makes a block of inputs of each channel") {
  const Shrunk made =
      shrink(R"(g (float[N,3,4,4] x, float[8,3,1,1] U, float[10,128] V, float[10] B, float[3,10] W) => (float[N,3] y) {
      a = Conv (x, U)
      f = Flatten (a)
      h = Gemm <transB = 1> (f, V, B)
      r = Relu (h)
      y = Gemm <transB = 1> (r, W)
    })");
  CHECK(made.shapes("UVBW") == "U 4x3x1x1, V 5x64, B 5, W 3x5");
}

TEST_CASE("Transpose before Reshape interleaves the inputs of each channel") {
  const Shrunk made = shrink(R"(g (float[1,3,4,4] x, float[8,3,1,1] U, float[128,5] V) => (float[1,5] y) {
      a = Conv (x, U)
      t = Transpose <perm = [0, 2, 3, 1]> (a)
      shape = Constant <value = int64[2] {1, 128}> ()
      f = Reshape (t, shape)
      y = MatMul (f, V)
    })");
  CHECK(made.shapes("UV") == "U 4x3x1x1, V 64x5");
}

TEST_CASE("channels are shuffled by Reshape, Transpose and Reshape") {
  const Shrunk made =
      shrink(R"(g (float[1,3,4,4] x, float[8,3,1,1] U, float[8,1,3,3] D, float[2,8,1,1] H) => (float[1,2,2,2] y) {
      a = Conv (x, U)
      s = Constant <value = int64[5] {0, 2, 4, 4, 4}> ()
      b = Reshape (a, s)
      c = Transpose <perm = [0, 2, 1, 3, 4]> (b)
      s2 = Constant <value = int64[4] {1, -1, 4, 4}> ()
      d = Reshape (c, s2)
      e = Conv <group = 8> (d, D)
      y = Conv (e, H)
    })");
  CHECK(made.shapes("UDH") == "U 4x3x1x1, D 4x1x3x3, H 2x4x1x1");
}

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
  bool statistics = false;
  for (const PinnedGroup& p : made.groups.pinned) statistics |= p.reason.find("is an input") != std::string::npos;
  CHECK(statistics);
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

TEST_CASE("an LSTM loses hidden units in all of its weights") {
  const Shrunk made =
      shrink(R"(g (float[T,1,3] x, float[2,32,3] W, float[2,32,8] R, float[2,64] B, float[16,2] H) => (float[T,1,2] y) {
      a = LSTM <hidden_size = 8, direction = "bidirectional"> (x, W, R, B)
      t = Transpose <perm = [0, 2, 1, 3]> (a)
      s = Constant <value = int64[3] {0, 0, -1}> ()
      f = Reshape (t, s)
      y = MatMul (f, H)
    })");
  CHECK(made.shapes("WRBH") == "W 2x16x3, R 2x16x4, B 2x32, H 8x2");
}

TEST_CASE("shapes that are computed follow, or are put right") {
  const Shrunk made = shrink(R"(g (float[N,S,3] x, float[3,8] U, float[8,2] H) => (float[A,2] y) {
      a = MatMul (x, U)
      whole = Shape (a)
      zero = Constant <value = int64[1] {0}> ()
      one = Constant <value = int64[1] {1}> ()
      n = Gather (whole, zero)
      s = Gather (whole, one)
      ns = Mul (n, s)
      width = Constant <value = int64[1] {8}> ()
      shape = Concat <axis = 0> (ns, width)
      f = Reshape (a, shape)
      y = MatMul (f, H)
    })");
  CHECK(made.shapes("UH") == "U 3x4, H 4x2");
}

TEST_CASE("padding of channels stays, and what is added to it") {
  const Shrunk made =
      shrink(R"(g (float[1,4,4,4] x, float[4,4,1,1] U, float[8,4,1,1] V, float[2,8,1,1] H) => (float[1,2,4,4] y) {
      a = Conv (x, U)
      pads = Constant <value = int64[8] {0, 2, 0, 0, 0, 2, 0, 0}> ()
      p = Pad (a, pads)
      r = Relu (a)
      b = Conv (r, V)
      s = Add (p, b)
      y = Conv (s, H)
    })");
  CHECK(made.shapes("UVH") == "U 2x4x1x1, V 6x2x1x1, H 2x6x1x1");
}

TEST_CASE("what is not understood stays") {
  const Shrunk made = shrink(R"(g (float[1,3,4,4] x, float[8,3,1,1] U, float[2,8,1,1] H) => (float[1,2,4,4] y) {
      a = Conv (x, U)
      n = LRN <size = 3> (a)
      y = Conv (n, H)
    })");
  CHECK(made.groups.groups.empty());
  CHECK(made.shapes("UH") == "U 8x3x1x1, H 2x8x1x1");
}
