#include "core/rewrite/lower/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;

namespace {

std::string graph(const std::string& outputs, const std::string& inputs = "x") {
  return "g (float[40,50] x) => (" + std::string(outputs == "y" ? "float[40,50] y" : "float[40,50] y, bool[40,50] m") +
         ") <float r = {0.25}, bool t = {1}, bool f = {0}> { " + outputs + " = Dropout (" + inputs + ") }";
}

}  // namespace

TEST_CASE("a mask of what is not dropped is all true") {
  CHECK(test::rewritten(lower::dropout, graph("y, m"), 13, 0, Target::kKernels) == "Equal Not Or Identity");
  CHECK(test::rewritten(lower::dropout, graph("y, m", "x, r, f"), 13, 0, Target::kKernels) == "Equal Not Or Identity");
}

TEST_CASE("what is told to train is a choice by random numbers") {
  Model model = test::fixture(graph("y, m", "x, r, t"), 13);
  infer(model);
  PassContext context;
  context.target = Target::kKernels;
  CHECK(run_pass(model, lower::dropout, context).applied == 1);
  CHECK(test::operators(*model.graph) == "SeededUniform Less Not Div Where");
}

TEST_CASE("what drops nothing stays") {
  CHECK(test::declined(lower::dropout, graph("y"), 13, Target::kKernels) == "it drops nothing");
  CHECK(test::declined(lower::dropout, graph("y", "x, r, f"), 13, Target::kKernels) == "it drops nothing");
}
