#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::eliminate_dropout;
using test::declined;
using test::rewritten;

TEST_CASE("Dropout goes in inference") {
  const std::string graph = "g (double[N,4] x) => (double[N,4] y) { a = Dropout (x)  y = Relu (a) }";
  CHECK(rewritten(eliminate_dropout, graph) == "Relu");
  CHECK(rewritten(eliminate_dropout, graph, 7) == "Relu");
  CHECK(rewritten(eliminate_dropout, R"(g (double[N,4] x) => (double[N,4] y)
    <float r = {0.5}, bool t = {0}> { a, mask = Dropout (x, r, t)  y = Relu (a) })") == "Relu");
  CHECK(rewritten(eliminate_dropout, "g (double[4] x) => (double[4] y) { a = Dropout <is_test = 1> (x)  y = Relu (a) }",
                  6) == "Relu");
}

TEST_CASE("Dropout stays in training, or where its mask is used") {
  CHECK(declined(eliminate_dropout, "g (double[4] x) => (double[4] y, bool[4] m) { y, m = Dropout (x) }") ==
        "its mask is used");
  CHECK(declined(eliminate_dropout,
                 "g (double[4] x) => (double[4] y) <float r = {0.5}, bool t = {1}> { y = Dropout (x, r, t) }") ==
        "it is in training mode");
  CHECK(declined(eliminate_dropout,
                 "g (double[4] x, bool t) => (double[4] y) <float r = {0.5}> { y = Dropout (x, r, t) }") ==
        "its training mode is not constant");
  CHECK(declined(eliminate_dropout, "g (double[4] x) => (double[4] y) { y = Dropout (x) }", 6) ==
        "it is in training mode");
}
