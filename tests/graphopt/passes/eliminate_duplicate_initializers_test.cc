#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::eliminate_duplicate_initializers;
using test::declined;
using test::rewritten;

namespace {

size_t initializers_after(const std::string& graph) {
  Model model = test::fixture(graph);
  const Model source = clone(model);
  run_pass(model, eliminate_duplicate_initializers, test::pass_context());
  test::require_same_model(source, model, 0);
  return model.graph->initializers().size();
}

}  // namespace

TEST_CASE("equal initializers are stored once") {
  CHECK(initializers_after(R"(g (double[2] x) => (double[2] y) <double[2] a = {1, 2}, double[2] b = {1, 2}>
    { c = Add (x, a)  y = Mul (c, b) })") == 1);
}

TEST_CASE("initializers that differ in type, shape, a bit, or that a caller sees stay") {
  const std::string reason;
  CHECK(declined(eliminate_duplicate_initializers, R"(g (double[2] x) => (double[2] y)
    <double[2] a = {1, 2}, double[2] b = {1, 3}> { c = Add (x, a)  y = Mul (c, b) })") == reason);
  CHECK(declined(eliminate_duplicate_initializers, R"(g (double[2] x) => (double[1,2] y)
    <double[2] a = {1, 2}, double[1,2] b = {1, 2}> { c = Add (x, a)  y = Mul (c, b) })") == reason);
  CHECK(declined(eliminate_duplicate_initializers, R"(g (double[2] x, float[2] f) => (double[2] y, float[2] z)
    <double[2] a = {0, 0}, float[2] b = {0, 0}> { y = Add (x, a)  z = Mul (f, b) })") == reason);
  CHECK(declined(eliminate_duplicate_initializers, R"(g (double[2] x, double[2] b = {1, 2}) => (double[2] y)
    <double[2] a = {1, 2}> { c = Add (x, a)  y = Mul (c, b) })") == reason);
  CHECK(declined(eliminate_duplicate_initializers, R"(g (double[2] x) => (double[2] y, double[2] b)
    <double[2] a = {1, 2}, double[2] b = {1, 2}> { y = Add (x, a) })") == reason);
  CHECK(declined(eliminate_duplicate_initializers, R"(g (double x) => (double y)
    <double a = {0.0}, double b = {-0.0}> { c = Add (x, a)  y = Div (c, b) })") == reason);
}
