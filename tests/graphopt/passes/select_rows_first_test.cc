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

TEST_CASE("what mixes rows, others read, or gives two rows stays") {
  CHECK(kept("a = MatMul (x, W)  y = Gather <axis = 2> (a, first)", "double[N,M] y"));
  CHECK(kept("a = Softmax <axis = 1> (x)  y = Gather <axis = 1> (a, first)"));
  CHECK(kept("a = LayerNormalization <axis = -2> (x, W)  y = Gather <axis = 1> (a, first)"));
  CHECK(kept("a = MatMul (x, W)  y = Gather <axis = 1> (a, first)", "double[N,4] y, double[N,M,4] a"));
  CHECK(kept("a = MatMul (x, W)  y = Slice (a, zero, two, one)", "double[N,2,4] y"));
  CHECK(kept("a = Relu (x)  y = Gather <axis = 1> (a, first)"));
}
