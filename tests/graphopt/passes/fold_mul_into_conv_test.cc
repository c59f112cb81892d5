#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::fold_mul_into_conv;
using test::declined;
using test::rewritten;

namespace {

std::string graph(const std::string& factor, const std::string& nodes) {
  return "g (double[N,4,6,6] x, double[4,2,3,3] W, double[4] B, double" + factor + " F) => (double[N,C,H,K] y) {" +
         nodes + "}";
}

}  // namespace

TEST_CASE("a factor for each channel, or one, goes into the convolution") {
  CHECK(rewritten(fold_mul_into_conv, graph("[4,1,1]", "a = Conv <group = 2> (x, W, B)  y = Mul (a, F)")) == "Conv");
  CHECK(rewritten(fold_mul_into_conv, graph("[1,4,1,1]", "a = Conv <group = 2> (x, W)  y = Mul (F, a)")) == "Conv");
  CHECK(rewritten(fold_mul_into_conv, graph("", "a = Conv <group = 2> (x, W, B)  y = Div (a, F)")) == "Conv");
  CHECK(rewritten(fold_mul_into_conv, graph("[1,4,1,1]", "a = ConvTranspose <group = 2> (x, W, B)  y = Mul (a, F)")) ==
        "ConvTranspose");
}

TEST_CASE("no bias is made where there was none") {
  Model model = test::fixture(graph("[4,1,1]", "a = Conv <group = 2> (x, W)  y = Mul (a, F)"));
  run_pass(model, fold_mul_into_conv, test::pass_context());
  CHECK(model.graph->nodes()[0]->inputs().size() == 2);
}

TEST_CASE("factors of other shapes, and divisions of the constant, stay") {
  const std::string shape = "its factor is not by channel";
  CHECK(declined(fold_mul_into_conv, graph("[4]", "a = Conv <group = 2> (x, W)  y = Mul (a, F)")) == shape);
  CHECK(declined(fold_mul_into_conv, graph("[1,1,4,4]", "a = Conv <group = 2> (x, W)  y = Mul (a, F)")) == shape);
  CHECK(declined(fold_mul_into_conv, graph("[1,1,4,1,1]", "a = Conv <group = 2> (x, W)  y = Mul (a, F)")) == shape);
  CHECK(declined(fold_mul_into_conv, graph("[4,1,1]", "a = Conv <group = 2> (x, W)  y = Div (F, a)")).empty());
  CHECK(declined(fold_mul_into_conv, R"(g (double[1,1,2,2] x, double[1,1,1,1] W) => (double[1,1,2,2] y) <double z = {0}>
    { a = Conv (x, W)  y = Div (a, z) })") == "the folded weights do not fit their type");
}

TEST_CASE("the alignment of the first opsets is not that of today") {
  CHECK(declined(fold_mul_into_conv,
                 graph("[4]", "a = Conv <group = 2> (x, W)  y = Mul <broadcast = 1, axis = 1> (a, F)"),
                 6) == "its factor is not by channel");
}
