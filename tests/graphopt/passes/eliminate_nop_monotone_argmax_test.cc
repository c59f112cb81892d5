#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::eliminate_nop_monotone_argmax;
using test::declined;
using test::rewritten;

namespace {

std::string graph(const std::string& inner, const std::string& outer = "ArgMax <axis = -1, keepdims = 0>",
                  const std::string& y = "int64[N,3] y") {
  return "g (double[N,3,4] x) => (" + y + ") { a = " + inner + " (x)  y = " + outer + " (a) }";
}

}  // namespace

TEST_CASE("the place of an extremum needs no Softmax along its axis") {
  CHECK(rewritten(eliminate_nop_monotone_argmax, graph("Softmax")) == "ArgMax");
  CHECK(rewritten(eliminate_nop_monotone_argmax,
                  graph("LogSoftmax <axis = 2>", "ArgMin <axis = 2>", "int64[N,3,1] y")) == "ArgMin");
  // Over both axes at once.
  CHECK(rewritten(eliminate_nop_monotone_argmax, graph("Softmax <axis = 1>"), 11) == "ArgMax");
}

TEST_CASE("Softmax along another axis, other functions and a second reader stay") {
  const std::string other = "it is normalized along another axis";
  CHECK(declined(eliminate_nop_monotone_argmax, graph("Softmax <axis = 1>")) == other);
  CHECK(declined(eliminate_nop_monotone_argmax, graph("Softmax <axis = 2>", "ArgMax <axis = 1>", "int64[N,1,4] y"),
                 11) == other);
  for (const char* outer : {"ArgMin <axis = -1, keepdims = 0>", "ArgMax <axis = -1, keepdims = 0>"})
    CHECK(declined(eliminate_nop_monotone_argmax, graph("Exp", outer)).empty());
  CHECK(declined(eliminate_nop_monotone_argmax, graph("Softmax", "ArgMin <axis = -1, keepdims = 0>")).empty());
  CHECK(declined(eliminate_nop_monotone_argmax,
                 graph("Softmax", "ArgMax <axis = -1, keepdims = 0>", "int64[N,3] y, double[N,3,4] a"))
            .find("used elsewhere") != std::string::npos);
}
