#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::push_reshapes;
using test::declined;
using test::rewritten;

namespace {

/// Rows of 6 as [2, 3], then `then`.
std::string graph(const std::string& then, const std::string& constant, const std::string& shape = "0, 0, 2, 3",
                  const std::string& y = "B,N,2,3") {
  return "g (double[B,N,4] x, double[4,6] W, double[" + constant + "] C) => (double[" + y + "] y) <int64[4] s = {" +
         shape + "}, double two = {2}> { m = MatMul (x, W)  r = Reshape (m, s)  " + then + " }";
}

}  // namespace

TEST_CASE("what is done to parts of rows is done to the rows") {
  CHECK(rewritten(push_reshapes, graph("y = Add (r, C)", "2,3")) == "MatMul Add Reshape");
  CHECK(rewritten(push_reshapes, graph("y = Sub (r, C)", "1,2,3")) == "MatMul Sub Reshape");
  CHECK(rewritten(push_reshapes, graph("a = Add (r, C)  y = Mul (two, a)", "1,1,2,3")) == "MatMul Add Mul Reshape");
  CHECK(rewritten(push_reshapes, graph("y = Div (r, C)", "1,1,1,1")) == "MatMul Div Reshape");
}

TEST_CASE("constants that are longer, shorter, or differ between rows stay behind the Reshape") {
  const std::string other = "the constant is no number for each of the parts";
  CHECK(declined(push_reshapes, graph("y = Add (r, C)", "3")) == other);
  CHECK(declined(push_reshapes, graph("y = Add (r, C)", "2,1")) == other);
  CHECK(declined(push_reshapes, graph("y = Add (r, C)", "1,1,1,2,3", "0, 0, 2, 3", "1,B,N,2,3")) ==
        "the constant has more axes");
}

TEST_CASE("Reshapes that part no rows, or whose result others read, stay where they are") {
  CHECK(declined(push_reshapes, graph("y = Add (r, C)", "3,2", "0, 3, -1, 2", "B,3,N,2")) ==
        "the Reshape does not part the last axis");
  CHECK_FALSE(declined(push_reshapes, graph("a = Add (r, C)  y = Mul (a, r)", "2,3")).empty());
  CHECK(declined(push_reshapes,
                 "g (double[B,N,6] x, double[2,3] C) => (double[B,N,2,3] y) <int64[4] s = {0, 0, 2, 3}> { t = Tanh (x) "
                 "r = Reshape (t, s)  y = Add (r, C) }")
            .empty());
}

TEST_CASE("axes that are joined for a product are joined behind the Softmax") {
  const auto text = [](const std::string& axis, const std::string& user, const std::string& shape) {
    return "g (double[B,2,3,4] x, double[4,5] W) => (double[P,3,5] y) <int64[3] s = {" + shape +
           "}> { r = Reshape (x, s)  w = Softmax <axis = " + axis + "> (r)  y = " + user + " }";
  };
  CHECK(rewritten(push_reshapes, text("-1", "MatMul (w, W)", "-1, 3, 4")) == "Softmax Reshape MatMul");
  CHECK(rewritten(push_reshapes, text("2", "MatMul (w, W)", "-1, 3, 4"), 11) == "Softmax Reshape MatMul");
  CHECK(declined(push_reshapes, text("1", "MatMul (w, W)", "-1, 3, 4")) == "another axis than the last one");
  CHECK(declined(push_reshapes,
                 "g (double[B,2,6] x) => (double[B,12] y) <int64[2] s = {0, -1}> {"
                 "  r = Reshape (x, s)  w = Softmax <axis = -1> (r)  "
                 "y = Identity (w) }")
            .empty());
}
