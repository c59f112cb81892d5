#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::select_rows_first;
using test::declined;
using test::rewritten;

namespace {

std::string graph(const std::string& nodes, const std::string& y = "double[N,4] y") {
  return "g (double[N,M,4] x, double[N,M,4] z, double[4,4] W, double[4] S, double[4] B, double[1,3,4] P) => (" + y +
         ") <int64 first = {0}, int64[1] list = {-1}, int64[1] zero = {0}, int64[1] one = {1}, int64[1] two = {2}> { " +
         nodes + " }";
}
std::string selected(const std::string& nodes, const std::string& y = "double[N,4] y", Target target = Target::kOnnx) {
  return rewritten(select_rows_first, graph(nodes, y), 21, 1e-12, target);
}
/// Is it left alone?
bool kept(const std::string& nodes, const std::string& y = "double[N,4] y") {
  return declined(select_rows_first, graph(nodes, y)).empty();
}

}  // namespace

TEST_CASE("the row that is needed is taken before products, sums and normalizations") {
  CHECK(selected("a = MatMul (x, W)  y = Gather <axis = 1> (a, first)") == "Gather MatMul");
  CHECK(selected("a = LayerNormalization (x, S, B)  y = Gather <axis = 1> (a, first)") == "Gather LayerNormalization");
  CHECK(selected("a = MatMul (x, W)  b = Add (a, B)  c = Relu (b)  y = Gather <axis = -2> (c, first)") ==
        "Gather MatMul Add Relu");
}

TEST_CASE("a block of which both ends are one value takes its row once") {
  CHECK(selected("h = Softmax <axis = 1> (x)  a = MatMul (h, W)  b = Tanh (a)  c = Add (b, h)  d = "
                 "LayerNormalization (c, S)  y = Gather <axis = 1> (d, first)") ==
        "Softmax Gather MatMul Tanh Add LayerNormalization");
}

TEST_CASE("a second row is taken where that saves two products") {
  CHECK(selected(
            "a = MatMul (x, W)  b = Relu (a)  c = MatMul (b, W)  d = Add (c, z)  y = Gather <axis = 1> (d, first)") ==
        "Gather MatMul Relu MatMul Gather Add");
  CHECK(kept("a = MatMul (x, W)  d = Add (a, z)  y = Gather <axis = 1> (d, first)"));
}

TEST_CASE("a second row is not taken for the last product of three") {
  CHECK(
      selected("o = MatMul (x, W)  s = Add (o, z)  a = MatMul (s, W)  b = Relu (a)  c = MatMul (b, W)  d = Add (c, s)  "
               "y = Gather <axis = 1> (d, first)") == "MatMul Add Gather MatMul Relu MatMul Add");
}

TEST_CASE("an axis that stays, of a Slice or of a list, stays") {
  CHECK(selected("a = MatMul (x, W)  y = Gather <axis = 1> (a, list)", "double[N,1,4] y") == "Gather MatMul");
  CHECK(selected("a = MatMul (x, W)  b = Mul (S, a)  y = Slice (b, zero, one, one)", "double[N,1,4] y") ==
        "Slice MatMul Mul");
}

TEST_CASE("of a constant with that axis the row is taken too") {
  CHECK(rewritten(select_rows_first, R"(g (double[N,3,4] x, double[4,4] W, double[1,3,4] P) => (double[N,4] y)
    <int64 first = {0}> { a = MatMul (x, W)  b = Add (P, a)  y = Gather <axis = 1> (b, first) })") ==
        "Gather MatMul Gather Add");
}

TEST_CASE("ONNX Runtime's own operators work row by row too") {
  CHECK(rewritten(select_rows_first, R"(g (float[N,M,4] x, float[4,4] W, float[4] B) => (float[N,4] y)
    <int64 first = {0}> { a = MatMul (x, W)  b = com.microsoft.BiasGelu (a, B)  y = Gather <axis = 1> (b, first) })",
                  21, 1e-6, Target::kOrt) == "Gather MatMul BiasGelu");
}

namespace {

/// Two heads of size 2 whose queries, keys and values are q, k and v [N,M,4]; a is their attention. The row is one of
/// a product with it, plus x.
std::string attention(const std::string& qkv) {
  return "g (double[N,M,4] x, double[4,4] Wq, double[4,4] Wk, double[4,4] Wv, double[4,12] W, double[12] B, "
         "double[4,4] Wo, double[N,1,M,M] mask) => (double[N,4] y) <int64 first = {0}, int64[4] parted = {0, 0, 2, 2}, "
         "int64[3] joined = {0, 0, 4}, int64[3] widths = {4, 4, "
         "4}> { " +
         qkv +
         " qp = Reshape (q, parted)  qh = Transpose <perm = [0, 2, 1, 3]> (qp)"
         " kp = Reshape (k, parted)  kt = Transpose <perm = [0, 2, 3, 1]> (kp)"
         " vp = Reshape (v, parted)  vh = Transpose <perm = [0, 2, 1, 3]> (vp)"
         " s = MatMul (qh, kt)  m = Add (s, mask)  p = Softmax <axis = -1> (m)  c = MatMul (p, vh)"
         " ct = Transpose <perm = [0, 2, 1, 3]> (c)  a = Reshape (ct, joined)  o = MatMul (a, Wo)  h = Add (o, x)"
         " y = Gather <axis = 1> (h, first) }";
}
constexpr const char* kThreeProducts = "q = MatMul (x, Wq)  k = MatMul (x, Wk)  v = MatMul (x, Wv) ";

}  // namespace

TEST_CASE("one query alone is made where one row of attention is needed") {
  CHECK(rewritten(select_rows_first, attention(kThreeProducts)) ==
        "MatMul MatMul Reshape Transpose Reshape Transpose Gather MatMul Reshape Transpose MatMul Gather Add Softmax "
        "MatMul Transpose Reshape MatMul Add Squeeze");
  // Without a product of its own a query saves too little for a row of the mask as well.
  CHECK(
      declined(select_rows_first, attention("q = CumSum (x, first)  k = MatMul (x, Wk)  v = MatMul (x, Wv) ")).empty());
}

TEST_CASE("a product that gives keys and values too is parted for it") {
  CHECK(rewritten(select_rows_first, attention("j = MatMul (x, W)  b = Add (B, j)  q, k, v = Split <axis = -1> (b, "
                                               "widths) ")) ==
        "Split Split MatMul Add Split Reshape Transpose Reshape Transpose Gather MatMul Add Reshape Transpose MatMul "
        "Gather Add Softmax MatMul Transpose Reshape MatMul Add Squeeze");
}

TEST_CASE("each query of the standard's attention is a row") {
  const auto graph = [](const std::string& attributes, const std::string& operands, const std::string& mask = "M,M") {
    return "g (double[N,M,4] x, double[N,M,4] z, double[4,4] Wq, double[4,4] Wo, double[" + mask +
           "] mask) => (double[N,4] y) "
           "<int64 first = {0}> { q = MatMul (x, Wq)  a = Attention <q_num_heads = 2, kv_num_heads = 2" +
           attributes + "> (q, " + operands + ")  o = MatMul (a, Wo)  y = Gather <axis = 1> (o, first) }";
  };
  CHECK(rewritten(select_rows_first, graph("", "x, z"), 23) == "Gather MatMul Attention Squeeze MatMul");
  CHECK(rewritten(select_rows_first, graph("", "x, z, mask"), 23) == "Gather MatMul Gather Attention Squeeze MatMul");
  CHECK(rewritten(select_rows_first, graph("", "x, z, mask", "1,M"), 23) == "Gather MatMul Attention Squeeze MatMul");
  CHECK(rewritten(select_rows_first, graph(", is_causal = 1", "x, z"), 23) == "MatMul Attention Gather MatMul");
  // Of a mask with a number of rows of its own nothing is known.
  Model other = test::fixture(graph("", "x, z, mask", "R,M"), 23);
  infer(other, test::pass_context().standard_types);
  run_pass(other, select_rows_first, test::pass_context());
  CHECK(test::operators(*other.graph) == "MatMul Attention Gather MatMul");
}

TEST_CASE("packed attention is taken apart for one query") {
  const auto graph = [](const std::string& attributes, const std::string& operands) {
    return "g (float[N,M,4] x, float[4,12] W, float[12] B, float[4,4] Wo, int32[N,M] keys) => (float[N,4] y) <int64 "
           "first = {0}> { a = com.microsoft.Attention <num_heads = 2" +
           attributes + "> (x, W, B" + operands +
           ")  o = MatMul (a, Wo)  h = Add (o, x)  y = Gather <axis = 1> (h, first) }";
  };
  CHECK(rewritten(select_rows_first, graph("", ", keys"), 21, 1e-6, Target::kOrt) ==
        "MatMul MatMul Gather MatMul MultiHeadAttention MatMul Add Squeeze");
  CHECK(declined(select_rows_first, graph(", unidirectional = 1", ""), 21, Target::kOrt).empty());
}

TEST_CASE("what mixes rows, others read, or gives two rows stays") {
  CHECK(kept("a = MatMul (x, W)  y = Gather <axis = 2> (a, first)", "double[N,M] y"));
  CHECK(kept("a = Softmax <axis = 1> (x)  y = Gather <axis = 1> (a, first)"));
  CHECK(kept("a = LayerNormalization <axis = -2> (x, W)  y = Gather <axis = 1> (a, first)"));
  CHECK(kept("a = MatMul (x, W)  y = Gather <axis = 1> (a, first)", "double[N,4] y, double[N,M,4] a"));
  CHECK(kept("a = MatMul (x, W)  y = Slice (a, zero, two, one)", "double[N,2,4] y"));
  CHECK(kept("a = Relu (x)  y = Gather <axis = 1> (a, first)"));
}

TEST_CASE("a scale or a bias that differs from row to row is not one of a row") {
  CHECK(kept("a = LayerNormalization (x, z)  y = Gather <axis = 1> (a, first)"));
  CHECK(kept("a = LayerNormalization (x, S, z)  y = Gather <axis = 1> (a, first)"));
}
