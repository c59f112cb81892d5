#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::fold_add_into_conv;
using test::declined;
using test::rewritten;

namespace {

std::string graph(const std::string& summand, const std::string& nodes) {
  return "g (double[N,4,6,6] x, double[4,2,3,3] W, double[4] B, double" + summand + " A) => (double[N,C,H,K] y) {" +
         nodes + "}";
}

}  // namespace

TEST_CASE("a summand for each channel, or one, goes into the bias") {
  CHECK(rewritten(fold_add_into_conv, graph("[4,1,1]", "a = Conv <group = 2> (x, W, B)  y = Add (a, A)")) == "Conv");
  CHECK(rewritten(fold_add_into_conv, graph("[1,4,1,1]", "a = Conv <group = 2> (x, W)  y = Add (A, a)")) == "Conv");
  CHECK(rewritten(fold_add_into_conv, graph("", "a = Conv <group = 2> (x, W, B)  y = Sub (a, A)")) == "Conv");
  CHECK(rewritten(fold_add_into_conv, graph("[1,4,1,1]", "a = ConvTranspose <group = 2> (x, W)  y = Add (a, A)")) ==
        "ConvTranspose");
}

TEST_CASE("summands of other shapes, computed ones, and differences from the constant stay") {
  const std::string shape = "its summand is not by channel";
  CHECK(declined(fold_add_into_conv, graph("[4]", "a = Conv <group = 2> (x, W)  y = Add (a, A)")) == shape);
  CHECK(declined(fold_add_into_conv, graph("[4,4]", "a = Conv <group = 2> (x, W)  y = Add (a, A)")) == shape);
  CHECK(declined(fold_add_into_conv, graph("[4,1,1]", "a = Conv <group = 2> (x, W)  y = Sub (A, a)")).empty());
  CHECK(declined(fold_add_into_conv, graph("[4,1,1]", "a = Conv <group = 2> (x, W)  b = Neg (a)  y = Add (a, b)")) ==
        "'b' is not constant");
}

TEST_CASE("a convolution that is computed once for all rounds of a loop stays outside") {
  CHECK(declined(fold_add_into_conv,
                 R"(g (double[1,1,2,2] x, double[1,1,1,1] W, bool c, double A) => (double[1,1,2,2] y) {
    a = Conv (x, W)
    y = If (c) <then_branch = t () => (double[1,1,2,2] p) { p = Add (a, A) },
                else_branch = e () => (double[1,1,2,2] q) { q = Neg (x) }>
  })")
            .empty());
}
