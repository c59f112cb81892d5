#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::stack_to_concat;
using test::declined;
using test::rewritten;

namespace {

std::string graph(const std::string& shape, const std::string& type, const std::string& join = "Concat <axis = 2>",
                  const std::string& axis = "2", const std::string& second = "v") {
  return "g (double[B,N,3] a, double[B,N,3] b) => (double" + type + " y) <int64[1] at = {" + axis + "}, int64[" +
         shape + "}> { u = Unsqueeze (a, at)  v = Unsqueeze (b, at)  w = Relu (v)  c = " + join + " (u, " + second +
         ")  r = Reshape (c, s)  y = Relu (r) }";
}

}  // namespace

TEST_CASE("rows that are stacked and made one are joined") {
  CHECK(rewritten(stack_to_concat, graph("3] s = {0, 0, 6", "[B,N,6]")).ends_with("Concat Relu"));
  CHECK(rewritten(stack_to_concat, graph("4] s = {0, 0, 1, 6", "[B,N,1,6]")).ends_with("Concat Reshape Relu"));
  CHECK(rewritten(stack_to_concat, graph("3] s = {0, -1, 3", "[B,M,3]", "Concat <axis = 1>", "1"))
            .ends_with("Concat Relu"));
}

TEST_CASE("stacks along the last axis, other joins and other shapes stay") {
  CHECK(declined(stack_to_concat, graph("3] s = {0, 0, 6", "[B,N,6]", "Concat <axis = 3>", "3")) ==
        "it is stacked along the last axis");
  CHECK(declined(stack_to_concat, graph("3] s = {0, 0, 6", "[B,N,6]", "Concat <axis = 2>", "2", "w")) ==
        "what it joins is no stack");
  CHECK(declined(stack_to_concat, graph("4] s = {0, 0, 3, 2", "[B,N,3,2]")) ==
        "it does not make one axis of the stacked one and the next");
}
