#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::fold_affine_into_next_conv;
using test::declined;
using test::rewritten;

namespace {

std::string conv(const std::string& before, const std::string& attrs = "", const std::string& more = "") {
  return "g (double[N,4,5,5] x, double[6,2,3,3] W, double[6] B, double[1,4,1,1] C, double[4] S, double[4] T, double[4] "
         "M, "
         "double[4] V) => (double[N,6,H,L] y" +
         more + ") { a = " + before + "  y = Conv <group = 2" + attrs + "> (a, W, B) }";
}

}  // namespace

TEST_CASE("what is before a convolution goes into its weights") {
  for (const std::string before :
       {"Mul (C, x)", "Div (x, C)", "Add (x, C)", "Sub (x, C)", "BatchNormalization (x, S, T, M, V)"})
    CHECK(rewritten(fold_affine_into_next_conv, conv(before)) == "Conv");
  CHECK(rewritten(fold_affine_into_next_conv, conv("Mul (x, C)", ", pads = [1, 1, 1, 1]")) == "Conv");
  CHECK(rewritten(fold_affine_into_next_conv, R"(g (double[N,2,5] x, double[2,2,3] W) => (double[N,2,3] y)
    <double c = {0.5}> { a = Sub (x, c)  y = Conv (a, W) })") == "Conv");
}

TEST_CASE("a shift before pads, other shapes, and what others read, stay") {
  const std::string zeros = "the convolution pads zeros, which nothing is added to";
  CHECK(declined(fold_affine_into_next_conv, conv("Add (x, C)", ", pads = [1, 1, 1, 1]")) == zeros);
  CHECK(declined(fold_affine_into_next_conv,
                 conv("BatchNormalization (x, S, T, M, V)", ", auto_pad = \"SAME_UPPER\"")) == zeros);
  CHECK(declined(fold_affine_into_next_conv, conv("Mul (x, C)", "", ", double[N,4,5,5] a")).find("used elsewhere") !=
        std::string::npos);
  CHECK(
      declined(fold_affine_into_next_conv, R"(g (double[N,1,5] x, double[1,2,1] C, double[2,2,3] W) => (double[N,2,3] y)
    { a = Mul (x, C)  y = Conv (a, W) })") == "its channels are not known");
  CHECK(declined(fold_affine_into_next_conv, R"(g (double[N,2,5] x, double[5] C, double[2,2,3] W) => (double[N,2,3] y)
    { a = Mul (x, C)  y = Conv (a, W) })") == "its constant is not by channel");
}

TEST_CASE("the half of GELU before a convolution stays with it") {
  CHECK(declined(fold_affine_into_next_conv, R"(g (double[N,2,5] x, double[2,2,3] W) => (double[N,2,3] y)
    <double root = {0.70710678118654752}, double one = {1}, double half = {0.5}>
    { a = Mul (x, root)  b = Erf (a)  c = Add (b, one)  d = Mul (x, c)  e = Mul (d, half)  y = Conv (e, W) })") ==
        "the factor belongs to GELU, which runtimes find by it");
}
