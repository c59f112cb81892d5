#include "core/rewrite/fusion/attention_site.h"

#include "core/rewrite/fusion/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using test::declined;
using test::rewritten;

namespace {

std::string graph(const std::string& scores) {
  return "g (float[B,N,16] x, bool[B,N] m, float[16,16] Q, float[16,16] K, float[16,16] V) => (float[B,N,16] y) "
         "<int64[4] heads = {0, 0, 4, 4}, int64[3] rows = {0, 0, 16}, float half = {0.5}, float tiny = {0.001}, "
         "int64[1] l0 = {0}, int64[1] l1 = {1}, int64 i0 = {0}, int64 i1 = {1}, float less = {-0.5}, "
         "float hide = {-1.0e20}, float zero = {0}, float lowest = {-3.4028234663852886e38}, float infinite = "
         "{-inf}, "
         "float least = {-10000}, int64[2] l12 = {1, 2}> { "
         "q3 = MatMul (x, Q)  k3 = MatMul (x, K)  v3 = MatMul (x, V)  q4 = Reshape (q3, heads)  "
         "k4 = Reshape (k3, heads)  v4 = Reshape (v3, heads)  q = Transpose <perm = [0, 2, 1, 3]> (q4)  "
         "k = Transpose <perm = [0, 2, 3, 1]> (k4)  v = Transpose <perm = [0, 2, 1, 3]> (v4)  p = MatMul (q, k)  "
         "u = Unsqueeze (m, l12)  " +
         scores +
         "  w = Softmax <axis = -1> (s)  o = MatMul (w, v)  t = Transpose <perm = [0, 2, 1, 3]> (o)  "
         "y = Reshape (t, rows) }";
}

std::string kept(const std::string& scores) {
  return declined(fusion::fuse_attention, graph(scores), 17, Target::kOrt);
}

/// Four heads whose scores are a product that ONNX Runtime has joined with a scale, of keys that `perm` made.
Model joined(const std::string& attrs, const std::string& perm) {
  Model source = test::fixture(
      "g (float[B,N,16] x, float[16,16] Q, float[16,16] K) => (float[B,N,16] y) <int64[4] split = {0, 0, 4, 4}, "
      "int64[3] joint = {0, 0, 16}> { q3 = MatMul (x, Q)  k3 = MatMul (x, K)  q4 = Reshape (q3, split)  k4 = Reshape "
      "(k3, split)  v4 = Reshape (x, split)  q = Transpose <perm = [0, 2, 1, 3]> (q4)  k = Transpose <perm = " +
          perm + "> (k4)  v = Transpose <perm = [0, 2, 1, 3]> (v4)  s = com.microsoft.FusedMatMul <alpha = 0.5" +
          attrs +
          "> (q, k)  w = Softmax <axis = -1> (s)  o = MatMul (w, v)  t = Transpose <perm = [0, 2, 1, 3]> (o)  "
          "y = Reshape (t, joint) }",
      17);
  source.set_opset("com.microsoft", 1);
  return source;
}

const std::string kAsTheyLie = "[0, 2, 1, 3]", kTurned = "[0, 2, 3, 1]";

}  // namespace

TEST_CASE("scores that are scaled after some were hidden are hidden by the scaled number") {
  CHECK(rewritten(fusion::fuse_attention, graph("c = Where (u, p, hide)  s = Mul (c, half)"), 17, 1e-4, Target::kOrt) ==
        "Cast Attention");
  CHECK(kept("c = Where (u, p, least)  s = Mul (c, half)") ==
        "a row without keys would be another one, as its scores are hidden by a small number");
}

TEST_CASE("a number that no longer hides when it is scaled hides no later keys either") {
  const std::string order =
      "h = Shape (x)  n = Gather (h, i1)  r = Range (i0, n, i1)  key = Unsqueeze (r, l0)  query = Unsqueeze (r, l1)  "
      "f = LessOrEqual (key, query)  ";
  CHECK(rewritten(fusion::fuse_attention, graph(order + "c = Where (f, p, hide)  s = Mul (c, tiny)"), 17, 1e-4,
                  Target::kOrt) == "Attention");
  CHECK(kept(order + "c = Where (f, p, least)  s = Mul (c, tiny)") == fusion::kHiddenBySmall);
}

TEST_CASE("a condition of another batch may repeat the scores") {
  std::string text = graph("c = Where (u, p, hide)  s = Mul (c, half)");
  text.replace(text.find("bool[B"), 6, "bool[C");
  CHECK(declined(fusion::fuse_attention, text, 17, Target::kOrt) == fusion::kMayRepeat);
}

TEST_CASE("the least number in the place of minus infinity makes no difference in rows with other numbers") {
  const std::string hidden = "z = Where (u, zero, lowest)  a = Add (p, z)  ";
  CHECK(rewritten(fusion::fuse_attention, graph(hidden + "s = Clip (a, lowest)"), 17, 1e-4, Target::kOrt) ==
        "Cast Attention");
  CHECK(kept(hidden + "s = Clip (a, half)") == "the scores are not a product");
  CHECK(kept(hidden + "s = Clip (a, lowest, half)") == "the scores are not a product");
  CHECK(kept("z = Where (u, zero, infinite)  a = Add (p, z)  s = Clip (a, lowest)") == "the scores are not a product");
  CHECK(kept("c = Where (u, p, infinite)  s = Clip (c, lowest)") == "the scores are not a product");
}

TEST_CASE("a negative factor would show what is hidden") {
  CHECK(kept("c = Where (u, p, hide)  s = Mul (c, less)") == "the scores are not a product");
}

TEST_CASE("scores that others read are not those of one operator") {
  CHECK(kept("c = Where (u, p, hide)  s = Mul (c, half)  z = Neg (c)") == "the scores are not a product");
}

TEST_CASE("heads may be repeated as parts of rows, by Tile too") {
  const auto text = [](const std::string& scores) {
    return "g (float[B,N,32] x, bool[B,N] m, float[32,32] Q, float[32,16] K, float[32,16] V) => (float[B,N,32] y) "
           "<int64[4] four = {0, 0, 4, 8}, int64[4] two = {0, 0, 2, 8}, int64[1] l3 = {3}, int64[5] wide = {1, 1, 1, "
           "2, 1}, "
           "int64[3] joint = {0, 0, 32}, int64[2] l12 = {1, 2}, float least = {-3.0e38}> { "
           "q3 = MatMul (x, Q)  k3 = MatMul (x, K)  v3 = MatMul (x, V) "
           "q4 = Reshape (q3, four)  k2 = Reshape (k3, two)  v2 = Reshape (v3, two) "
           "ku = Unsqueeze (k2, l3)  ke = Tile (ku, wide)  k4 = Reshape (ke, four) "
           "vu = Unsqueeze (v2, l3)  ve = Tile (vu, wide)  v4 = Reshape (ve, four) "
           "q = Transpose <perm = [0, 2, 1, 3]> (q4)  k = Transpose <perm = [0, 2, 3, 1]> (k4) "
           "v = Transpose <perm = [0, 2, 1, 3]> (v4)  " +
           scores +
           "  w = Softmax <axis = -1> (s)  o = MatMul (w, v)  t = Transpose <perm = [0, 2, 1, 3]> (o) "
           "y = Reshape (t, joint) }";
  };
  const std::string plain = text("s = MatMul (q, k)");
  CHECK(rewritten(fusion::fuse_attention, plain, 17, 1e-4, Target::kOrt) ==
        "MatMul MatMul MatMul Reshape Expand Reshape Reshape Expand Reshape MultiHeadAttention");
  CHECK(rewritten(fusion::fuse_attention, plain, 23, 1e-4) == "MatMul MatMul MatMul Attention");
  // The operator that makes heads itself makes as many of each kind.
  CHECK(rewritten(fusion::fuse_attention, text("p = MatMul (q, k)  u = Unsqueeze (m, l12)  s = Where (u, p, least)"),
                  17, 1e-4, Target::kOrt)
            .ends_with("MultiHeadAttention"));
}

TEST_CASE("shared keys that lie as rows, normalized head by head, are repeated there") {
  CHECK(rewritten(fusion::fuse_attention, R"(g (float[B,N,32] q3, float[B,N,16] k3, float[B,N,16] v3, float[8] S)
    => (float[B,N,32] y)
    <int64[4] four = {0, 0, 4, 8}, int64[4] two = {0, 0, 2, 8}, int64[1] l2 = {2}, int64[5] twice = {1, 1, 2, 1, 1},
     int64[4] all = {0, 4, -1, 8}, int64[3] joint = {0, 0, 32}> {
    q4 = Reshape (q3, four)  k4 = Reshape (k3, two)  v4 = Reshape (v3, two)  n = LayerNormalization (k4, S)
    q = Transpose <perm = [0, 2, 1, 3]> (q4)  kt = Transpose <perm = [0, 2, 1, 3]> (n)
    vt = Transpose <perm = [0, 2, 1, 3]> (v4)
    ku = Unsqueeze (kt, l2)  ke = Expand (ku, twice)  kr = Reshape (ke, all)
    vu = Unsqueeze (vt, l2)  ve = Expand (vu, twice)  v = Reshape (ve, all)
    k = Transpose <perm = [0, 1, 3, 2]> (kr)  s = MatMul (q, k)  w = Softmax <axis = -1> (s)  o = MatMul (w, v)
    t = Transpose <perm = [0, 2, 1, 3]> (o)  y = Reshape (t, joint) })",
                  17, 1e-4, Target::kOrt) ==
        "Reshape LayerNormalization Reshape Reshape Expand Reshape Reshape Expand Reshape MultiHeadAttention");
}

TEST_CASE("a head that the products repeat is one that the standard's operator takes for all queries") {
  const std::string text = R"(g (float[B,N,32] x, float[32,32] Q, float[32,8] K, float[32,8] V) => (float[B,N,32] y)
    <int64[4] four = {0, 0, 4, 8}, int64[4] one = {0, 0, 1, 8}, int64[3] joint = {0, 0, 32}> {
    q3 = MatMul (x, Q)  k3 = MatMul (x, K)  v3 = MatMul (x, V)
    q4 = Reshape (q3, four)  k4 = Reshape (k3, one)  v4 = Reshape (v3, one)
    q = Transpose <perm = [0, 2, 1, 3]> (q4)  k = Transpose <perm = [0, 2, 3, 1]> (k4)
    v = Transpose <perm = [0, 2, 1, 3]> (v4)  s = MatMul (q, k)  w = Softmax <axis = -1> (s)  o = MatMul (w, v)
    t = Transpose <perm = [0, 2, 1, 3]> (o)  y = Reshape (t, joint) })";
  CHECK(rewritten(fusion::fuse_attention, text, 23, 1e-4) == "MatMul MatMul MatMul Attention");
  // ONNX Runtime's needs it as often as there are queries, which takes longer than the products do.
  CHECK(declined(fusion::fuse_attention, text, 17, Target::kOrt) == "the heads do not fit one another");
}

TEST_CASE("keys that are rotated where queries are not stay so") {
  Model model = test::fixture(R"(g (float[B,3,32] x, float[32,32] Q, float[32,32] K, float[32,32] V, float[5,4] C,
    float[5,4] S) => (float[B,3,32] y) <int64[4] four = {0, 0, 4, 8}, int64[3] joint = {0, 0, 32}, int64[1] start = {0}> {
    q3 = MatMul (x, Q)  k3 = MatMul (x, K)  v3 = MatMul (x, V)
    q4 = Reshape (q3, four)  k4 = Reshape (k3, four)  v4 = Reshape (v3, four)
    q = Transpose <perm = [0, 2, 1, 3]> (q4)  kt = Transpose <perm = [0, 2, 1, 3]> (k4)
    v = Transpose <perm = [0, 2, 1, 3]> (v4)  kr = com.microsoft.RotaryEmbedding (kt, start, C, S)
    k = Transpose <perm = [0, 1, 3, 2]> (kr)  s = MatMul (q, k)  w = Softmax <axis = -1> (s)  o = MatMul (w, v)
    t = Transpose <perm = [0, 2, 1, 3]> (o)  y = Reshape (t, joint) })",
                              17);
  model.set_opset("com.microsoft", 1);
  CHECK(rewritten(fusion::fuse_attention, model, 1e-4, Target::kOrt).find("RotaryEmbedding") != std::string::npos);
}

TEST_CASE("products that ONNX Runtime has joined with a scale and with the turning of keys are scores too") {
  for (const Model& source : {joined(", transB = 1", kAsTheyLie), joined("", kTurned)})
    CHECK(rewritten(fusion::fuse_attention, source, 1e-4, Target::kOrt) == "MatMul MatMul MultiHeadAttention");
}

TEST_CASE("products that move batches are no scores") {
  Model other = joined(", transBatchA = 1", kTurned);
  infer(other);
  PassContext context = test::pass_context();
  context.target = Target::kOrt;
  CHECK(run_pass(other, fusion::fuse_attention, context).applied == 0);
}

namespace {

/// Causal attention of four heads of eight; `capped` makes s of the products p, and may add the mask e.
std::string causal(const std::string& capped) {
  return "g (float[B,N,32] x, float[32,32] Q, float[32,32] K, float[32,32] V) => (float[B,N,32] y) <int64[4] heads = "
         "{0, 0, 4, 8}, int64[3] rows = {0, 0, 32}, float cap = {0.5}, float less = {-0.5}, float zero = {0}, float "
         "hide = {-inf}, int64 i0 = {0}, int64 i1 = {1}, int64[1] l0 = {0}, int64[1] l1 = {1}> { "
         "q3 = MatMul (x, Q)  k3 = MatMul (x, K)  v3 = MatMul (x, V)  q4 = Reshape (q3, heads)  k4 = Reshape (k3, "
         "heads)"
         "  v4 = Reshape (v3, heads)  q = Transpose <perm = [0, 2, 1, 3]> (q4)  k = Transpose <perm = [0, 2, 3, 1]> "
         "(k4)"
         "  v = Transpose <perm = [0, 2, 1, 3]> (v4)  sh = Shape (x)  n = Gather (sh, i1)  r = Range (i0, n, i1)  cols "
         "= Unsqueeze (r, l0)  down = Unsqueeze (r, l1)  f = LessOrEqual (cols, down)  e = Where (f, zero, hide)  "
         "p = MatMul (q, k)  " +
         capped +
         "  w = Softmax <axis = -1> (s)  o = MatMul (w, v)  t = Transpose <perm = [0, 2, 1, 3]> (o)  y = Reshape (t, "
         "rows) }";
}

}  // namespace

TEST_CASE("scores that tanh keeps below a cap are capped by the operators that do so") {
  const std::string cap = "a = Div (p, cap)  b = Tanh (a)  c = Mul (b, cap)  s = Add (c, e)";
  CHECK(rewritten(fusion::fuse_attention, causal(cap), 17, 1e-4, Target::kOrt).ends_with(" GroupQueryAttention"));
  CHECK(rewritten(fusion::fuse_attention, causal(cap), 23).ends_with(" Attention"));
  CHECK(rewritten(fusion::fuse_attention, causal("b = Tanh (p)  s = Add (b, e)"), 23).ends_with(" Attention"));
  const auto at = [](const std::string& scores, int64_t opset) {
    return declined(fusion::fuse_attention, causal(scores), opset, Target::kOrt);
  };
  CHECK(at("a = Div (p, cap)  b = Tanh (a)  s = Mul (b, cap)", 17) ==
        "MultiHeadAttention caps no scores, and Attention needs opset 23");
  CHECK(at("b = Tanh (p)  c = Mul (b, less)  s = Add (c, e)", 23) == "the scores are not a product");
  CHECK(at("d = Add (p, e)  b = Tanh (d)  s = Mul (b, cap)", 23) == "the scores are not a product");
  CHECK(at("b = Tanh (p)  c = Mul (b, cap)  s = Add (c, e)  z = Neg (b)", 23) == "the scores are not a product");
}
