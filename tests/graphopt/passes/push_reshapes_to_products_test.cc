#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::push_reshapes_to_products;
using test::declined;
using test::rewritten;

namespace {

/// Products of matrices whose batch and 2 heads are one axis, [B * 2, 3, 5], then `nodes`, which make t of it, and the
/// Reshape that parts the axis.
std::string graph(const std::string& nodes, const std::string& target = "-1, 2, 3, 5", const std::string& y = "B,2,3,5",
                  const std::string& extra = "double[B,2,5] z") {
  return "g (double[B,2,3,4] x, double[B,2,4,5] w, " + extra + ") => (double[" + y +
         "] y) <int64[3] left = {-1, 3, 4}, int64[3] right = {-1, 4, 5}, int64[3] row = {-1, 1, 5}, int64[4] s = {" +
         target + "}, double two = {2}> { a = Reshape (x, left)  b = Reshape (w, right)  m = MatMul (a, b)  " + nodes +
         "  y = Reshape (t, s) }";
}

}  // namespace

TEST_CASE("factors and summands of joined batch and heads are parted, as the product is") {
  CHECK(rewritten(push_reshapes_to_products, graph("t = Mul (m, two)")) == "Reshape Reshape MatMul Reshape Mul");
  CHECK(rewritten(push_reshapes_to_products, graph("t = Div (m, two)")) == "Reshape Reshape MatMul Reshape Div");
  CHECK(rewritten(push_reshapes_to_products, graph("f = Mul (two, m)  r = Reshape (z, row)  t = Add (f, r)")) ==
        "Reshape Reshape MatMul Reshape Reshape Mul Add");
  CHECK(rewritten(push_reshapes_to_products, graph("r = Reshape (z, row)  t = Add (r, m)")) ==
        "Reshape Reshape MatMul Reshape Reshape Add");
  CHECK(rewritten(push_reshapes_to_products, graph("t = Add (m, z)", "-1, 2, 3, 5", "B,2,3,5", "double[1,3,5] z")) ==
        "Reshape Reshape MatMul Reshape Add");
}

TEST_CASE("what is parted otherwise, is of no such product, or is read elsewhere, stays") {
  CHECK(declined(push_reshapes_to_products, graph("t = Mul (m, two)", "0, 3, 5, 1", "P,3,5,1")).empty());
  CHECK(declined(push_reshapes_to_products, graph("t = Div (two, m)")).empty());
  CHECK(declined(push_reshapes_to_products, graph("r = Relu (m)  t = Mul (r, two)")).empty());
  CHECK(declined(push_reshapes_to_products, graph("v = Mul (m, two)  t = Add (v, v)")).empty());
  CHECK_FALSE(declined(push_reshapes_to_products, graph("t = Mul (m, two)  u = Relu (t)")).empty());
  CHECK(
      declined(push_reshapes_to_products,
               "g (double[P,3,4] x, double[P,4,5] w) => (double[B,2,3,5] y) <int64[4] s = {-1, 2, 3, 5}, double two = "
               "{2}> { m = MatMul (x, w)  t = Mul (m, two)  y = Reshape (t, s) }")
          .empty());
}

TEST_CASE("operands that are aligned by an axis stay") {
  CHECK(declined(push_reshapes_to_products, graph("t = Mul <axis = 0, broadcast = 1> (m, two)"), 6) ==
        "it says which axes of its operands are aligned");
}
