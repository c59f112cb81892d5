#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::eliminate_nop_pool;
using test::declined;
using test::rewritten;

TEST_CASE("pools over single elements go") {
  CHECK(rewritten(eliminate_nop_pool, R"(g (double[N,2,3,H] x) => (double[N,2,3,H] y)
    { a = MaxPool <kernel_shape = [1, 1]> (x)  b = AveragePool <kernel_shape = [1, 1], strides = [1, 1]> (a)  y = Neg (b) })") ==
        "Neg");
  CHECK(rewritten(eliminate_nop_pool, R"(g (double[N,2,1,1] x) => (double[N,2,1,1] y)
    { a = GlobalAveragePool (x)  y = Neg (a) })") == "Neg");
}

TEST_CASE("pools over more, with steps, pads or indices stay") {
  const auto pool = [](const std::string& attrs, const std::string& y = "y") {
    return "g (double[N,2,4,4] x) => (double[N,2,H,W] y) { " + y + " = MaxPool <" + attrs + "> (x) }";
  };
  CHECK(declined(eliminate_nop_pool, pool("kernel_shape = [1, 2]")) == "its window is larger than one element");
  CHECK(declined(eliminate_nop_pool, pool("kernel_shape = [1, 1], strides = [2, 2]")) == "it leaves elements out");
  CHECK(declined(eliminate_nop_pool, pool("kernel_shape = [1, 1], pads = [0, 0, 0, 1]")) == "it pads");
  CHECK(declined(eliminate_nop_pool, pool("kernel_shape = [1, 1]", "y, i")) == "its indices are used");
  CHECK(declined(eliminate_nop_pool, "g (double[N,2,H,1] x) => (double[N,2,1,1] y) { y = GlobalMaxPool (x) }") ==
        "it may go over more than one element");
}
