#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::hoist_transposes;
using test::declined;
using test::rewritten;

namespace {

/// Rows x [S, N, 4], of which sums along the sequence are taken with the samples first, as attention has them.
std::string graph(const std::string& nodes, const std::string& outputs = "double[S,N,4] y",
                  const std::string& inputs = "") {
  return "g (double[S,N,4] x" + inputs + ") => (" + outputs +
         ") <int64 one = {1}, double[4] G = {1, 2, 3, 4}, double[4,4] W = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, "
         "14, 15, 16}, int64[2] halves = {2, 2}> { " +
         nodes + " }";
}

std::string turn(const std::string& to, const std::string& from) {
  return "  " + to + " = Transpose <perm = [1, 0, 2]> (" + from + ")  ";
}

/// What is done to x with the samples first.
const std::string kFirst = turn("a", "x") + "b = CumSum (a, one)" + turn("c", "b");

std::string kept(const std::string& nodes, const std::string& outputs = "double[S,N,4] y",
                 const std::string& inputs = "") {
  return declined(hoist_transposes, graph(nodes, outputs, inputs));
}

constexpr const char* kNone = "no Transpose would go if all around it were turned";

}  // namespace

TEST_CASE("rows are turned where they come from and where they go") {
  CHECK(rewritten(hoist_transposes, graph(kFirst + "d = Add (x, c)  e = Relu (d)" + turn("f", "e") +
                                          "h = CumSum (f, one)" + turn("y", "h"))) ==
        "Transpose CumSum Add Relu CumSum Transpose");
}

TEST_CASE("products with matrices, norms, parts of rows and softmax work row by row") {
  CHECK(rewritten(hoist_transposes,
                  graph(kFirst +
                            "d = MatMul (c, W)  e = Add (d, G)  f = LayerNormalization (e, G)  "
                            "l, r = Split <axis = -1> (f, halves)  k = Concat <axis = 2> (r, l)  "
                            "s = Softmax <axis = -1> (k)" +
                            turn("h", "s") + "y = CumSum (h, one)",
                        "double[N,S,4] y"),
                  17) == "Transpose CumSum MatMul Add LayerNormalization Split Concat Softmax CumSum");
}

TEST_CASE("constants are turned once, which is nothing to win in either order") {
  const std::string rows = "double[2,3,2] P = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}";
  CHECK(rewritten(hoist_transposes, "g (double[3,2,2] x) => (double[3,2,2] y) <int64 one = {1}, " + rows + "> {" +
                                        turn("a", "x") + "b = LpNormalization <axis = 2> (a)  c = Mul (b, P)" +
                                        turn("d", "c") + "y = CumSum (d, one) }") ==
        "LpNormalization Transpose Mul CumSum");
  CHECK(declined(hoist_transposes, "g (double[3,2,2] x) => (double[3,2,2] y) <" + rows + "> {" + turn("a", "P") +
                                       "y = Mul (x, a) }") == kNone);
}

TEST_CASE("an output keeps its name and its order of axes") {
  CHECK(rewritten(hoist_transposes,
                  graph(kFirst + "y = Relu (c)  d = Add (x, y)" + turn("e", "d") + "f = CumSum (e, one)" +
                            turn("h", "f") + "k = Mul (h, d)" + turn("z", "k"),
                        "double[S,N,4] y, double[N,S,4] z")) == "Transpose CumSum Relu Transpose Add CumSum Mul");
}

TEST_CASE("a body that reads a value has it as it was") {
  const std::string nodes = kFirst + "d = Relu (c)" + turn("e", "d") + "f = CumSum (e, one)" + turn("h", "f") +
                            "i = Neg (h)" + turn("k", "i") +
                            "u = CumSum (k, one)  v = ReduceSum (u)  w = Cast <to = "
                            "9> (v)  y = If (w) <then_branch = t () => (double[S,N,4] p) { p = Neg (d) }, "
                            "else_branch = o () => (double[S,N,4] q) { q = Exp (d) }>";
  CHECK(rewritten(hoist_transposes, graph(nodes)) ==
        "Transpose CumSum Relu Transpose CumSum Neg CumSum ReduceSum Cast If[Neg][Exp]");
}

TEST_CASE("what does more than work row by row stays between Transposes") {
  const auto through = [](const std::string& op) {
    return kFirst + "d = " + op + turn("e", "d") + "y = CumSum (e, one)";
  };
  CHECK(kept(through("CumSum (c, one)"), "double[N,S,4] y") == kNone);
  CHECK(kept(through("Softmax <axis = 1> (c)"), "double[N,S,4] y") == kNone);
  CHECK(kept(through("LayerNormalization <axis = 1> (c, G)"), "double[N,S,4] y") == kNone);
  CHECK(kept(through("MatMul (c, m)"), "double[N,S,4] y", ", double[S,4,4] m") == kNone);
}

TEST_CASE("operands of fewer axes are broadcast along the same axes when rows are turned") {
  CHECK(rewritten(hoist_transposes, graph(kFirst + "d = Add (c, m)" + turn("e", "d") + "y = CumSum (e, one)",
                                          "double[N,S,4] y", ", double[N,4] m")) ==
        "Transpose CumSum Unsqueeze Add CumSum");
  // Rotary embeddings of heads, by tables of positions.
  const auto rotated = [](const std::string& table) {
    const std::string heads = " = Transpose <perm = [0, 2, 1, 3]> ";
    return "g (double[N,S,3,4] x, double[" + table +
           "] t) => (double[N,S,3,4] y) <int64 axis = {1}, int64[2] halves = " + "{2, 2}> { z = CumSum (x, axis)  a" +
           heads + "(z)  b = Mul (a, t)  l, r = Split <axis = -1> (a, halves)  " +
           "n = Neg (r)  k = Concat <axis = -1> (n, l)  m = Mul (k, t)  c = Add (b, m)  d" + heads +
           "(c)  y = CumSum (d, axis) }";
  };
  CHECK(rewritten(hoist_transposes, rotated("S,4")) ==
        "CumSum Unsqueeze Mul Split Neg Concat Unsqueeze Mul Add CumSum");
  CHECK(rewritten(hoist_transposes, rotated("1,1,S,4")) == "CumSum Transpose Mul Split Neg Concat Mul Add CumSum");
  // Its own axes would change places.
  CHECK(declined(hoist_transposes, rotated("3,S,4")) == kNone);
}

TEST_CASE("rows are not copied to save copies of what lacks an axis") {
  CHECK(kept(turn("a", "t") + "b = Add (x, a)" + turn("c", "u") + "d = Mul (b, c)" + turn("e", "v") + "y = Sub (d, e)",
             "double[S,N,4] y", ", double[1,S,4] t, double[1,S,4] u, double[1,S,4] v") == kNone);
}

TEST_CASE("Transposes that are as many stay, and those that move the last axis") {
  CHECK(kept(kFirst + "y = Relu (c)") == kNone);
  CHECK(kept("a = Transpose <perm = [0, 2, 1]> (x)  b = CumSum (a, one)  c = Transpose <perm = [0, 2, 1]> (b)  "
             "d = Relu (c)  e = Transpose <perm = [0, 2, 1]> (d)  y = CumSum (e, one)",
             "double[S,4,N] y")
            .empty());
}

TEST_CASE("a Transpose for nothing stays") {
  CHECK(kept(R"("" = Transpose <perm = [1, 0, 2]> (x)  y = Relu (x))").empty());
}

TEST_CASE("two outputs that would be one value stay two") {
  CHECK(kept(kFirst + "d = Relu (c)" + turn("y", "d") + turn("z", "d"), "double[N,S,4] y, double[N,S,4] z") == kNone);
}

TEST_CASE("what a file states of a value that is turned is not written again") {
  Model model = test::fixture("g (double[5,3,4] x) => (double[3,5,4] y) <int64 one = {1}, double[5,3,4] d> { " +
                              kFirst + "d = Add (x, c)" + turn("e", "d") + "y = CumSum (e, one) }");
  infer(model);
  REQUIRE(model.graph->find("d")->declared);
  CHECK(run_pass(model, hoist_transposes, test::pass_context()).applied == 1);
  CHECK(to_string(*model.graph->find("d")->type.dims) == "[3,5,4]");
  CHECK_FALSE(model.graph->find("d")->declared);
}

TEST_CASE("a scale that differs from row to row stays between Transposes") {
  const auto normed = [](const std::string& scale) {
    return graph(
        kFirst + "d = LayerNormalization (c, " + scale + ")" + turn("f", "d") + "h = CumSum (f, one)" + turn("y", "h"),
        "double[S,N,4] y", ", double[N,4] r, double[1,1,4] q");
  };
  CHECK(rewritten(hoist_transposes, normed("q")) == "Transpose CumSum LayerNormalization CumSum Transpose");
  CHECK(declined(hoist_transposes, normed("r")) == kNone);
}
