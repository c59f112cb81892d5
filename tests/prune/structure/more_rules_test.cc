#include <fmt/core.h>

#include "tests/support/catch.h"
#include "tests/support/shrunk.h"

using namespace mlopt;
using test::shrink;
using test::Shrunk;

TEST_CASE("transposed convolutions have their weights the other way round") {
  const Shrunk made = shrink(R"(g (float[1,3,4,4] x, float[3,8,2,2] U, float[8] B, float[8,4,2,2] V, float[8,1,2,2] D,
        float[2,8,1,1] H) => (float[1,2,7,7] y) {
      a = ConvTranspose (x, U, B)
      b = ConvTranspose <group = 2> (a, V)
      c = ConvTranspose <group = 8> (b, D)
      y = Conv (c, H)
    })");
  CHECK(made.shapes("UBVDH") == "U 3x4x2x2, B 4, V 4x2x2x2, D 4x1x2x2, H 2x4x1x1");
}

TEST_CASE("normalization by channels goes with them, of groups of them with whole ones") {
  const Shrunk made = shrink(R"(g (float[1,3,4,4] x, float[8,3,1,1] U, float[8] S, float[8] B, float[8] M, float[8] V,
        float[8] P, float[8] Q, float[8,8,1,1] W, float[8] R, float[8] T, float[2,8,1,1] H) => (float[1,2,4,4] y) {
      a = Conv (x, U)
      n = BatchNormalization (a, S, B, M, V)
      i = InstanceNormalization (n, P, Q)
      b = Conv (i, W)
      k = GroupNormalization <num_groups = 8> (b, R, T)
      y = Conv (k, H)
    })");
  CHECK(made.shapes("USBMVPQWRTH") == "U 4x3x1x1, S 4, B 4, M 4, V 4, P 4, Q 4, W 4x4x1x1, R 4, T 4, H 2x4x1x1");
  for (const auto& [opset, numbers] : {std::pair{21, 8}, {18, 4}}) {  // of scale and bias
    const Shrunk groups = shrink(fmt::format(R"(g (float[1,3,4,4] x, float[8,3,1,1] U, float[{0}] S, float[{0}] B,
        float[2,8,1,1] H) => (float[1,2,4,4] y) {{
      a = Conv (x, U)
      n = GroupNormalization <num_groups = 4> (a, S, B)
      y = Conv (n, H)
    }})",
                                             numbers),
                                 opset);
    CHECK(groups.shapes("USBH") == fmt::format("U 4x3x1x1, S {0}, B {0}, H 2x4x1x1", numbers / 2));
    for (const Node* node : groups.model.graph->nodes())
      if (node->is("GroupNormalization")) CHECK(std::get<int64_t>(node->attr("num_groups")->value) == 2);
  }
}

TEST_CASE("depth moved into space goes in whole blocks") {
  for (const char* mode : {"DCR", "CRD"}) {
    const std::string graph =
        std::string(R"(g (float[1,3,4,4] x, float[16,3,1,1] U, float[2,4,1,1] H) => (float[1,2,8,8] y) {
      a = Conv (x, U)
      d = DepthToSpace <blocksize = 2, mode = ")") +
        mode + R"("> (a)
      y = Conv (d, H)
    })";
    CHECK(shrink(graph).shapes("UH") == "U 8x3x1x1, H 2x2x1x1");
  }
  const Shrunk back = shrink(R"(g (float[1,3,4,4] x, float[4,3,1,1] U, float[2,16,1,1] H) => (float[1,2,2,2] y) {
      a = Conv (x, U)
      d = SpaceToDepth <blocksize = 2> (a)
      y = Conv (d, H)
    })");
  CHECK(back.shapes("UH") == "U 2x3x1x1, H 2x8x1x1");
}

TEST_CASE("channels of a sequence that is turned around may go") {
  const Shrunk made = shrink(
      R"(g (float[3,2,4] x, float[4,8] U, float[8,3] W) => (float[3,2,3] y) <int64[2] lengths = {3, 2}> {
      a = MatMul (x, U)
      b = ReverseSequence <time_axis = 0, batch_axis = 1> (a, lengths)
      y = MatMul (b, W)
    })");
  CHECK(made.shapes("UW") == "U 4x4, W 4x3");
}

TEST_CASE("biases inside of GELUs go with their channels") {
  const Shrunk made = shrink(
      R"(g (float[2,3,4] x, float[4,8] U, float[8] B, float[8,8] V, float[8] C, float[8,3] W) => (float[2,3,3] y) {
      a = MatMul (x, U)
      b = com.microsoft.FastGelu (a, B)
      c = MatMul (b, V)
      d = com.microsoft.BiasGelu (c, C)
      y = MatMul (d, W)
    })");
  CHECK(made.shapes("UBVCW") == "U 4x4, B 4, V 4x4, C 4, W 4x3");
}

TEST_CASE("sums over channels lose terms, other reductions keep all") {
  const Shrunk made = shrink(R"(g (float[N,3] x, float[3,8] U, float[3,8] V) => (float[N] y) {
      a = MatMul (x, U)
      axis = Constant <value = int64[1] {1}> ()
      s = ReduceSum <keepdims = 0> (a, axis)
      b = MatMul (x, V)
      m = ReduceMean <keepdims = 0> (b, axis)
      y = Add (s, m)
    })");
  CHECK(made.shapes("UV") == "U 3x4, V 3x8");
  CHECK(made.pinned.find("ReduceMean") != std::string::npos);
}

TEST_CASE("constant indices are renumbered, the channels that they drop go freely") {
  const Shrunk made = shrink(R"(g (float[1,3,4,4] x, float[8,3,1,1] U, float[2,4,1,1] H) => (float[1,2,4,4] y) {
      a = Conv (x, U)
      at = Constant <value = int64[4] {6, 1, -1, 3}> ()
      b = Gather <axis = 1> (a, at)
      y = Conv (b, H)
    })");
  CHECK(made.shapes("UH") == "U 4x3x1x1, H 2x2x1x1");
}

TEST_CASE("tables of tokens lose columns") {
  const Shrunk made = shrink(R"(g (int64[N,S] x, float[10,8] T, float[8] P, float[8,2] H) => (float[N,S,2] y) {
      a = Gather (T, x)
      b = Mul (a, P)
      y = MatMul (b, H)
    })");
  CHECK(made.shapes("TPH") == "T 10x4, P 4, H 4x2");
}

TEST_CASE("a table that is picked from along several axes loses columns") {
  const Shrunk made = shrink(R"(g (int64[N,5,2] x, float[3,4,6] T, float[6,2] W) => (float[N,5,2] y) {
      a = GatherND (T, x)
      r = Relu (a)
      y = MatMul (r, W)
    })");
  CHECK(made.shapes("TW") == "T 3x4x3, W 3x2");
  const Shrunk batches = shrink(R"(g (float[2,3] x, float[3,8] U, float[8,2] V) => (float[2,1] y)
      <int64[2,1,1] at = {0, 1}> {
    a = MatMul (x, U)
    r = Relu (a)
    b = MatMul (r, V)
    y = GatherND <batch_dims = 1> (b, at)
  })");
  CHECK(batches.shapes("UV") == "U 3x4, V 4x2");
}

TEST_CASE("sizes and repetitions name channels too") {
  const Shrunk made =
      shrink(R"(g (float[1,3,4,4] x, float[8,3,1,1] U, float[8,3,1,1] V, float[2,24,1,1] H) => (float[1,2,8,8] y) {
      a = Conv (x, U)
      sizes = Constant <value = int64[4] {1, 8, 8, 8}> ()
      b = Resize <mode = "nearest"> (a, , , sizes)
      c = Conv (x, V)
      p = GlobalAveragePool (c)
      full = Constant <value = int64[4] {1, 8, 8, 8}> ()
      e = Expand (p, full)
      times = Constant <value = int64[4] {1, 2, 1, 1}> ()
      t = Tile (b, times)
      k = Concat <axis = 1> (t, e)
      y = Conv (k, H)
    })");
  CHECK(made.shapes("UVH") == "U 4x3x1x1, V 4x3x1x1, H 2x12x1x1");
}

TEST_CASE("GRU and RNN lose hidden units, with states of zeros made for them") {
  const Shrunk made = shrink(R"(g (float[T,N,3] x, float[1,24,3] W, float[1,24,8] R, float[1,48] B, float[1,8,8] P,
        float[1,8,8] Q, float[8,2] H) => (float[1,N,2] y) {
      whole = Shape (x)
      one = Constant <value = int64[1] {1}> ()
      n = Gather (whole, one)
      width = Constant <value = int64[1] {8}> ()
      dims = Concat <axis = 0> (one, n, width)
      h = ConstantOfShape (dims)
      a, b = GRU <hidden_size = 8> (x, W, R, B, , h)
      axes = Constant <value = int64[1] {1}> ()
      s = Squeeze (a, axes)
      c, d = RNN <hidden_size = 8> (s, P, Q)
      y = MatMul (d, H)
    })");
  CHECK(made.shapes("WRBPQH") == "W 1x12x3, R 1x12x4, B 1x24, P 1x4x4, Q 1x4x4, H 4x2");
}

TEST_CASE("scales of quantized weights go with their channels") {
  const Shrunk made =
      shrink(R"(g (float[1,3,4,4] x, float[8,3,1,1] U, float[8] S, float[2,8,1,1] H) => (float[1,2,4,4] y) {
      q = QuantizeLinear <axis = 0> (U, S)
      w = DequantizeLinear <axis = 0> (q, S)
      a = Conv (x, w)
      y = Conv (a, H)
    })");
  CHECK(made.shapes("USH") == "U 4x3x1x1, S 4, H 2x4x1x1");
}

TEST_CASE("weights shared by two layers tie both") {
  const Shrunk made =
      shrink(R"(g (float[1,3,4,4] x, float[8,3,1,1] U, float[8,8,1,1] W, float[2,8,1,1] H) => (float[1,2,4,4] y) {
      a = Conv (x, U)
      b = Conv (a, W)
      c = Conv (b, W)
      y = Conv (c, H)
    })");
  CHECK(made.groups.groups.size() == 1);
  CHECK(made.shapes("UWH") == "U 4x3x1x1, W 4x4x1x1, H 2x4x1x1");
}

TEST_CASE("a letter of Einsum is one axis wherever it stands") {
  const std::string graph = R"(g (float[1,S,8] x, float[8,4,6] Q, float[8,4,6] K, float[8,4,6] V, float[4,6,8] O)
        => (float[1,S,8] y) {
      q = Einsum <equation = "bse,ehd->bhsd"> (x, Q)
      k = Einsum <equation = "bse,ehd->bhsd"> (x, K)
      v = Einsum <equation = "bse,ehd->bhsd"> (x, V)
      s = Einsum <equation = "bhsd,bhtd->bhst"> (q, k)
      p = Softmax <axis = -1> (s)
      c = Einsum <equation = "bhst,bhtd->bhsd"> (p, v)
      y = Einsum <equation = "bhsd,hde->bse"> (c, O)
    })";
  const Shrunk made = shrink(graph);
  CHECK(made.groups.groups.size() == 3);
  CHECK(made.shapes("QKVO") == "Q 8x2x3, K 8x2x3, V 8x2x3, O 2x3x8");
  CHECK(shrink(R"(g (float[N,3] x, float[3,8] U) => (float[N,K] y) { y = Einsum <equation = "...e,ef->...f"> (x, U) })")
            .groups.groups.empty());
}

TEST_CASE("bodies of If lose what is inside of them, and what they capture") {
  const Shrunk made =
      shrink(R"(g (float[1,3] x, bool c, float[3,8] U, float[8,8] V, float[8,2] H, float[8,2] K) => (float[1,2] y) {
      a = MatMul (x, U)
      y = If (c) <
        then_branch = t () => (float[1,2] p) { b = MatMul (a, V) d = LeakyRelu (b) p = MatMul (d, H) },
        else_branch = e () => (float[1,2] q) { q = MatMul (a, K) }
      >
    })");
  CHECK(made.groups.groups.size() == 2);
  CHECK(made.shapes("UVHK") == "U 3x4, V 4x4, H 4x2, K 4x2");
}

TEST_CASE("a ReduceMax, Softmax or TopK over channels keeps them") {
  for (const char* op : {"ReduceMax <keepdims = 1> (a, axis)", "Softmax <axis = 1> (a)", "CumSum (a, one)"}) {
    const std::string graph = std::string(R"(g (float[N,3] x, float[3,8] U) => (float[N,K] y) {
      a = MatMul (x, U)
      axis = Constant <value = int64[1] {1}> ()
      one = Constant <value = int64 {1}> ()
      b = )") + op + R"(
      y = Neg (b)
    })";
    INFO(op);
    CHECK(shrink(graph).groups.groups.empty());
  }
}
