#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::fold_batchnorm_into_conv;
using test::declined;
using test::rewritten;

namespace {

/// A graph of `nodes` over x and constants W, B and the four of BatchNormalization.
std::string graph(const std::string& weight, const std::string& channels, const std::string& nodes) {
  return "g (double[N,4,6,6] x, double" + weight + " W, double" + channels + " B, double" + channels + " S, double" +
         channels + " T, double" + channels + " M, double" + channels + " V) => (double[N,C,H,K] y) {" + nodes + "}";
}

}  // namespace

TEST_CASE("BatchNormalization goes into Conv, with groups, with and without a bias") {
  CHECK(rewritten(fold_batchnorm_into_conv, graph("[6,4,3,3]", "[6]", R"(
    a = Conv <pads = [1, 1, 1, 1]> (x, W, B)  b = BatchNormalization <epsilon = 0.1> (a, S, T, M, V)  y = Relu (b))")) ==
        "Conv Relu");
  CHECK(rewritten(fold_batchnorm_into_conv, graph("[6,2,3,3]", "[6]", R"(
    a = Conv <group = 2> (x, W)  y = BatchNormalization (a, S, T, M, V))")) == "Conv");
}

TEST_CASE("BatchNormalization goes into ConvTranspose, whose weight has its channels elsewhere") {
  CHECK(rewritten(fold_batchnorm_into_conv, graph("[4,3,2,2]", "[3]", R"(
    a = ConvTranspose <strides = [2, 2]> (x, W, B)  y = BatchNormalization (a, S, T, M, V))")) == "ConvTranspose");
  CHECK(rewritten(fold_batchnorm_into_conv, graph("[4,3,2,2]", "[6]", R"(
    a = ConvTranspose <group = 2> (x, W, B)  y = BatchNormalization (a, S, T, M, V))")) == "ConvTranspose");
}

TEST_CASE("BatchNormalization stays where it trains or the convolution is needed as it is") {
  CHECK(declined(fold_batchnorm_into_conv, R"(
    g (double[2,4,6,6] x, double[6,4,3,3] W, double[6] S, double[6] T, double[6] M, double[6] V)
      => (double[2,6,4,4] y, double[6] m, double[6] v) {
      a = Conv (x, W)  y, m, v = BatchNormalization <training_mode = 1> (a, S, T, M, V) })") ==
        "it is in training mode");
  CHECK(declined(fold_batchnorm_into_conv, graph("[6,4,3,3]", "[6]", R"(
    a = Conv (x, W)  y = BatchNormalization (a, S, T, M, V))"),
                 6) == "it is in training mode");
  CHECK(declined(fold_batchnorm_into_conv, graph("[6,4,3,3]", "[6]", R"(
    a = Conv (x, W)  b = BatchNormalization (a, S, T, M, V)  y = Mul (a, b))")) ==
        "the result of Conv giving 'a' is used elsewhere too");
  CHECK(declined(fold_batchnorm_into_conv, R"(
    g (double[N,4,6,6] x, double[6,4,3,3] w, double[6] S, double[6] T, double[6] M, double[6] V) => (double[N,6,4,4] y)
    { a = Conv (x, w)  y = BatchNormalization (a, S, T, M, V) })") == "'w' is not constant");
}

TEST_CASE("a weight that other nodes read would be stored twice") {
  CHECK(declined(fold_batchnorm_into_conv, R"(
    g (double[N,8,6,6] x, double[16,8,3,3] W, double[16] S, double[16] T, double[16] M, double[16] V) => (double[N,16,4,4] y)
    { a = Conv (x, W)  b = BatchNormalization (a, S, T, M, V)  c = Conv (x, W)  y = Mul (b, c) })") ==
        "the convolution's weight is used elsewhere too");
}

TEST_CASE("numbers that do not fit the weight's type stay where they are") {
  CHECK(declined(fold_batchnorm_into_conv, R"(
    g (float[1,1,2,2] x) => (float[1,1,2,2] y)
    <float[1,1,1,1] w = {3e38}, float[1] s = {2}, float[1] t = {0}, float[1] m = {0}, float[1] v = {1}>
    { a = Conv (x, w)  y = BatchNormalization (a, s, t, m, v) })") == "the folded weights do not fit their type");
}
