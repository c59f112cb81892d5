#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::fuse_pad_into_pool;
using test::declined;
using test::rewritten;

namespace {

std::string graph(const std::string& value, const std::string& pool) {
  return "g (double[N,2,6,6] x) => (double[N,2,H,K] y) <int64[8] p = {0,0,1,1,0,0,1,1}, double zero = {0}, double one "
         "= {1}, "
         "double infinite = {-inf}> { a = Pad (x, p, " +
         value + ")  y = " + pool + " (a) }";
}

}  // namespace

TEST_CASE("AveragePool counts the zeros of a Pad, MaxPool takes a Pad of -infinity") {
  CHECK(rewritten(fuse_pad_into_pool, graph("zero", "AveragePool <kernel_shape = [3, 3]>")) == "AveragePool");
  CHECK(rewritten(fuse_pad_into_pool, graph("zero", "AveragePool <kernel_shape = [2, 3], strides = [2, 2]>")) ==
        "AveragePool");
  CHECK(rewritten(fuse_pad_into_pool, graph("infinite", "MaxPool <kernel_shape = [3, 3], pads = [0, 1, 1, 0]>")) ==
        "MaxPool");
}

TEST_CASE("MaxPool takes zeros only where nothing is negative: they would beat negative numbers") {
  const auto after = [](const std::string& first, const std::string& attributes = {}) {
    return "g (double[N,2,6,6] x) => (double[N,2,H,K] y) <int64[8] p = {0,0,1,1,0,0,1,1}, double zero = {0}, double "
           "low = {-0.5}> { r = " +
           first + "  a = Pad (r, p)  y = MaxPool <kernel_shape = [3, 3]" + attributes + "> (a) }";
  };
  CHECK(rewritten(fuse_pad_into_pool, after("Relu (x)")) == "Relu MaxPool");
  CHECK(rewritten(fuse_pad_into_pool, after("Clip (x, zero)")) == "Clip MaxPool");
  const std::string negative = "it pads with zeros what may be negative";
  CHECK(declined(fuse_pad_into_pool, after("Clip (x, low)")) == negative);
  CHECK(declined(fuse_pad_into_pool, after("Clip (x)")) == negative);
  CHECK(declined(fuse_pad_into_pool, after("Tanh (x)")) == negative);
  CHECK(declined(fuse_pad_into_pool, graph("zero", "MaxPool <kernel_shape = [3, 3]>")) == negative);
  CHECK(declined(fuse_pad_into_pool, after("Relu (x)", ", dilations = [1, 2]")) ==
        "a dilated window may see pads only");
  CHECK(declined(fuse_pad_into_pool, graph("infinite", "MaxPool <kernel_shape = [3, 3], dilations = [2, 2]>")) ==
        "a dilated window may see pads only");
  CHECK(declined(fuse_pad_into_pool, graph("one", "MaxPool <kernel_shape = [3, 3]>")) ==
        "it pads with something else than -infinity");
}

TEST_CASE("pools that count, round or pad in another way keep their Pad") {
  CHECK(declined(fuse_pad_into_pool, graph("one", "AveragePool <kernel_shape = [3, 3]>")) ==
        "it pads with something else than zero");
  CHECK(declined(fuse_pad_into_pool, graph("zero", "AveragePool <kernel_shape = [3, 3], pads = [1, 0, 0, 0]>")) ==
        "it has pads of its own");
  CHECK(declined(fuse_pad_into_pool, graph("zero", "AveragePool <kernel_shape = [3, 3], ceil_mode = 1>")) ==
        "it rounds its output size up");
  CHECK(declined(fuse_pad_into_pool, graph("zero", "AveragePool <kernel_shape = [1, 1]>")) ==
        "its pads are as large as its window");
  CHECK(declined(fuse_pad_into_pool, graph("infinite", "MaxPool <kernel_shape = [2, 2], pads = [1, 0, 0, 0]>")) ==
        "its pads are as large as its window");
}
