#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::drop_unit_axes;
using test::declined;
using test::rewritten;

namespace {

struct Text {
  std::string heads = "1", shape = "0, 5, 5", batch = "B", scores = "s = Mul (p, half)", axis = "-1",
              keys = "k4 = Transpose <perm = [0, 2, 3, 1]> (k2)", user = "y = MatMul (w, v)";
};

/// Scores of so many heads, which a Reshape joins with the samples before they are multiplied with the values.
std::string graph(const Text& t) {
  return "g (double[" + t.batch + ",5," + (t.heads == "1" ? "4" : "8") + "] q, double[" + t.batch + ",5," +
         (t.heads == "1" ? "4" : "8") + "] k, double[" + (t.heads == "1" ? t.batch : "N") +
         ",5,4] v) => (double[N,5,M] y) <int64[4] queries = {0, " + t.heads + ", 5, 4}, int64[4] keys = {0, 5, " +
         t.heads + ", 4}, int64[3] rows = {" + t.shape +
         "}, double half = {0.5}, double[1,1,5,1] each = {1,2,3,4,5}> { q4 = Reshape (q, queries)  k2 = Reshape (k, " +
         "keys)  " + t.keys + "  p = MatMul (q4, k4)  " + t.scores + "  f = Softmax <axis = " + t.axis +
         "> (s)  w = Reshape (f, rows)  " + t.user + " }";
}

}  // namespace

TEST_CASE("the axis of the only head goes before the scores are made") {
  CHECK(rewritten(drop_unit_axes, graph({})) == "Reshape Reshape Transpose Reshape Reshape MatMul Mul Softmax MatMul");
  CHECK(rewritten(drop_unit_axes, graph({.scores = "a = Mul (p, half)  s = Div (a, half)", .axis = "3"})) ==
        "Reshape Reshape Transpose Reshape Reshape MatMul Mul Div Softmax MatMul");
}

TEST_CASE("numbers that scale an operand stay with it") {
  CHECK(rewritten(drop_unit_axes, graph({.keys = "k3 = Transpose <perm = [0, 2, 3, 1]> (k2)  k4 = Mul (k3, half)"})) ==
        "Reshape Reshape Transpose Reshape Reshape Mul MatMul Mul Softmax MatMul");
}

TEST_CASE("other axes, other scores and other users stay") {
  CHECK(declined(drop_unit_axes, graph({.heads = "2", .shape = "-1, 5, 5"})).empty());
  CHECK(declined(drop_unit_axes, graph({.user = "y = Neg (w)"})).empty());
  CHECK(declined(drop_unit_axes, graph({.axis = "2"})) == "another axis than the last one");
  CHECK(declined(drop_unit_axes, graph({.scores = "s = Mul (p, each)"})) ==
        "it is not of a product, scaled by numbers");
  CHECK(declined(drop_unit_axes, graph({.keys = "k3 = Transpose <perm = [0, 2, 3, 1]> (k2)  k4 = Neg (k3)"})) ==
        "its operands have no Reshapes that these would meet");
}
