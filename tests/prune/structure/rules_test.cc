#include "core/onnx/io.h"
#include "tests/support/catch.h"
#include "tests/support/shrunk.h"

using namespace mlopt;
using test::shrink;
using test::Shrunk;

TEST_CASE("a chain of convolutions loses the channels between them") {
  const Shrunk made =
      shrink(R"(g (float[N,3,8,8] x, float[8,3,3,3] V, float[8] B, float[4,8,1,1] W) => (float[N,4,6,6] y) {
      a = Conv (x, V, B)
      r = Relu (a)
      y = Conv (r, W)
    })");
  CHECK(made.shapes("VBW") == "V 4x3x3x3, B 4, W 4x4x1x1");
  CHECK(made.pinned == "'y' is an output of the model\n");
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

TEST_CASE("an axis of which the model states a wrong size stays") {
  const Model model = parse_text(R"(<ir_version: 10, opset_import: ["" : 21]> g (float[1,4,4,4] x) => (float[1,2,4,4] y)
      <float[4,4,1,1] U = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, float[1,4,4,4] a, float[1,5,4,4] p,
       int64[8] pads = {0, 2, 0, 0, 0, 2, 0, 0}> {
      a = Conv (x, U)
      p = Pad (a, pads)
      h = Relu (p)
      y = Slice (h, pads, pads)
    })");
  const prune::Groups found = prune::find_groups(prune::relate_axes(model, {}, {}));
  CHECK(found.groups.empty());
  CHECK_FALSE(found.pinned.empty());
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
