#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::fuse_pad_into_conv;
using test::declined;
using test::rewritten;

namespace {

std::string graph(const std::string& pads, const std::string& pad, const std::string& conv) {
  return "g (double[N,2,6,6] x, double[3,2,3,3] W) => (double[N,C,H,K] y) <int64[8] p = {" + pads +
         "}, double v = {1}> { a = Pad " + pad + "  y = Conv " + conv + " (a, W) }";
}

}  // namespace

TEST_CASE("Conv adds the zeros of a Pad before it to its own") {
  CHECK(rewritten(fuse_pad_into_conv, graph("0,0,1,2,0,0,3,0", "(x, p)", "<pads = [1, 0, 0, 1]>")) == "Conv");
  CHECK(rewritten(fuse_pad_into_conv, graph("0,0,1,2,0,0,3,0", "(x, p)", "<auto_pad = \"VALID\">")) == "Conv");
  CHECK(rewritten(fuse_pad_into_conv, R"(g (double[N,2,6,6] x, double[3,2,3,3] W) => (double[N,3,H,K] y)
    <int64[2] p = {2, 1}, int64[1] axis = {-1}> { a = Pad (x, p, , axis)  y = Conv (a, W) })") == "Conv");
  CHECK(rewritten(fuse_pad_into_conv, R"(g (double[N,2,6,6] x, double[3,2,3,3] W) => (double[N,3,H,K] y)
    { a = Pad <pads = [0, 0, 1, 1, 0, 0, 1, 1]> (x)  y = Conv (a, W) })",
                  10) == "Conv");
}

TEST_CASE("Pads of other numbers, modes and axes, negative ones and computed pads stay") {
  CHECK(declined(fuse_pad_into_conv, graph("0,0,1,1,0,0,1,1", "(x, p, v)", "")) ==
        "it pads with something else than zero");
  CHECK(declined(fuse_pad_into_conv, graph("0,0,1,1,0,0,1,1", "<mode = \"reflect\"> (x, p)", "")) ==
        "it does not pad with a constant");
  CHECK(declined(fuse_pad_into_conv, graph("0,0,1,1,0,0,1,-1", "(x, p)", "")) == "it removes elements");
  CHECK(declined(fuse_pad_into_conv, graph("1,0,1,1,0,0,1,1", "(x, p)", "")) == "it pads the batch or the channels");
  CHECK(declined(fuse_pad_into_conv, graph("0,0,1,1,0,0,1,1", "(x, p)", "<auto_pad = \"SAME_UPPER\">")) ==
        "the window computes its pads itself");
  CHECK(declined(fuse_pad_into_conv, R"(g (double[N,2,6,6] x, int64[8] p, double[3,2,3,3] W) => (double[N,3,H,K] y)
    { a = Pad (x, p)  y = Conv (a, W) })") == "its padding is not constant");
}

TEST_CASE("several Convs take the zeros of one Pad, unless another operator reads it") {
  const auto both = [](const std::string& second) {
    return "g (double[N,2,6,6] x, double[3,2,3,3] W, double[4,2,5,5] V) => (double[N,3,H,K] y, double[N,C,L,M] z) "
           "<int64[8] p = {0, 0, 1, 2, 0, 0, 1, 2}> { a = Pad (x, p)  y = Conv (a, W)  z = " +
           second + " }";
  };
  CHECK(rewritten(fuse_pad_into_conv, both("Conv <strides = [2, 2]> (a, V)")) == "Conv Conv");
  for (const char* second : {"Relu (a)", "Conv <auto_pad = \"SAME_UPPER\"> (a, V)"})
    CHECK(declined(fuse_pad_into_conv, both(second)) == "the Pad is read by others too");
}
