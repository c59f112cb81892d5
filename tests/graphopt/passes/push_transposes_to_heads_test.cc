#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::push_transposes_to_heads;
using test::declined;
using test::rewritten;

namespace {

std::string graph(const std::string& perm = "1, 0, 2", const std::string& use = "Transpose <perm = [1, 2, 0, 3]> (h)") {
  return "g (double[B,N,6] x, double[6,8] W, double[8] C) => (double[P,Q,R,S] y) <int64[4] s = {0, 0, 2, 4}> "
         "{ t = Transpose <perm = [" +
         perm + "]> (x)  m = MatMul (t, W)  a = Add (m, C)  h = Reshape (a, s)  y = " + use + " }";
}

}  // namespace

TEST_CASE("a Transpose of rows goes behind the product and its bias") {
  CHECK(rewritten(push_transposes_to_heads, graph()) == "MatMul Add Transpose Reshape Transpose");
}

TEST_CASE("a Transpose goes through Split where all parts meet another") {
  const auto text = [](const std::string& last) {
    return "g (double[B,N,8] x) => (double[P,Q,R] y, double[S,T,U] z) { t = Transpose <perm = [1, 0, 2]> (x) "
           "a, b = Split <axis = 2, num_outputs = 2> (t)  y = Transpose <perm = [1, 2, 0]> (a)  z = " +
           last + " }";
  };
  CHECK(rewritten(push_transposes_to_heads, text("Transpose <perm = [1, 0, 2]> (b)")) ==
        "Split Transpose Transpose Transpose Transpose");
  CHECK(declined(push_transposes_to_heads, text("Relu (b)")) == "the Transpose would meet no other");
}

TEST_CASE("a Transpose stays where it would meet no other, or moves what is multiplied") {
  CHECK(declined(push_transposes_to_heads, graph("1, 0, 2", "Relu (h)")) == "the Transpose would meet no other");
  CHECK(declined(push_transposes_to_heads,
                 "g (double[B,6,N] x, double[6,8] W) => (double[P,Q,R] y) { t = Transpose <perm = [0, 2, 1]> (x) "
                 "m = MatMul (t, W)  y = Transpose <perm = [0, 2, 1]> (m) }")
            .empty());
  CHECK(declined(push_transposes_to_heads,
                 "g (double[B,N,6] x, double[1,6,8] W) => (double[P,Q,R] y) { t = Transpose <perm = [1, 0, 2]> (x) "
                 "m = MatMul (t, W)  y = Transpose <perm = [1, 0, 2]> (m) }") == "its weight is no matrix");
  CHECK(declined(push_transposes_to_heads,
                 R"(g (double[B,N,6] x, double[6,8] W, double[8] C) => (double[B,N,6] y) {
    t = Transpose <perm = [1, 0, 2]> (x)  m = MatMul (t, W)  "" = Add (m, C)  y = Relu (x) })") ==
        "the Transpose would meet no other");
}
