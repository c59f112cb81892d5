#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::eliminate_nop_softmax;
using test::declined;
using test::rewritten;

namespace {

std::string graph(const std::string& softmax, const std::string& dims = "2,1,3") {
  return "g (double[" + dims + "] x) => (double[" + dims + "] y) { s = " + softmax + " (x)  y = Add (x, s) }";
}

}  // namespace

TEST_CASE("a softmax over one element is known") {
  CHECK(rewritten(eliminate_nop_softmax, graph("Softmax <axis = 1>")) == "Add");
  CHECK(rewritten(eliminate_nop_softmax, graph("LogSoftmax <axis = -2>")) == "Add");
  CHECK(rewritten(eliminate_nop_softmax, graph("Softmax <axis = 1>", "2,1,1"), 11) == "Add");
}

TEST_CASE("more elements, and shapes that are not known, stay") {
  CHECK(declined(eliminate_nop_softmax, graph("Softmax")) == "it goes over more than one element");
  CHECK(declined(eliminate_nop_softmax, graph("Softmax <axis = 1>"), 11) == "it goes over more than one element");
  CHECK(declined(eliminate_nop_softmax, graph("Softmax <axis = 1>", "N,1,3")) == "its shape is not known, or large");
}
