#include "graphopt/passes/limits.h"

#include <cmath>

#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::Limits;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Of what makes y.
std::optional<Limits> limits(const std::string& nodes, const std::string& type = "float", int64_t opset = 21) {
  const Model model = test::fixture("g (" + type + "[N] x, " + type + " hi) => (" + type + "[N] y) <" + type +
                                        " lo = {0}, " + type + " below = {-5}> { " + nodes + " }",
                                    opset);
  return Limits::of(NodeView(*model.graph->outputs()[0]->producer, opset));
}

/// Clip by these limits, as attributes or inputs say it.
Limits written(const Limits& wanted, const std::string& type, int64_t opset) {
  Model model = test::fixture("g (" + type + "[N] x) => (" + type + "[N] y) { y = Neg (x) }", opset);
  Builder builder(model, *model.graph, model.graph->outputs()[0]->producer);
  const Value* y = graphopt::make_clip(builder, model.graph->inputs()[0], wanted);
  return *Limits::of(NodeView(*y->producer, opset));
}

bool never_negative(const std::string& nodes, const std::string& type = "float") {
  const Model model = test::fixture("g (" + type + "[N] x, " + type + " hi) => (" + type + "[N] y) <" + type +
                                    " lo = {0}, " + type + " below = {-5}> { " + nodes + " }");
  const Builder builder(model, *model.graph, nullptr);
  return graphopt::never_negative(*model.graph->outputs()[0], builder);
}

}  // namespace

TEST_CASE("limits are those of Relu and of Clip by constants in order") {
  CHECK(limits("y = Clip (x, lo)")->low == 0);
  CHECK(limits("y = Clip <max = 2.0> (x)", "float", 10)->high == 2);
  CHECK(limits("y = Relu (x)")->high == kInfinity);
  CHECK(limits("y = Clip (x, lo)")->high == static_cast<double>(std::numeric_limits<float>::max()));
  CHECK(limits("y = Clip (x, lo)", "double")->high == std::numeric_limits<double>::max());
  CHECK(limits("y = Clip (x, , lo)", "float16")->low == -65504);
  CHECK_FALSE(limits("y = Clip (x, lo, below)"));
  CHECK_FALSE(limits("y = Clip (x, lo, hi)"));
}

TEST_CASE("limits are what they were, infinite ones too, when they are written") {
  for (const int64_t opset : {10, 21})
    for (const Limits& wanted : {Limits{.low = 0.5}, Limits{.high = 0.5}, Limits{-1, 1}}) {
      const Limits found = written(wanted, "float", opset);
      CHECK(found.low == wanted.low);
      CHECK(found.high == wanted.high);
    }
}

TEST_CASE("what limits in order or squares keep from being negative") {
  CHECK(never_negative("y = Clip (x, lo)"));
  CHECK_FALSE(never_negative("y = Clip (x, lo, below)"));
  CHECK_FALSE(never_negative("y = Clip (x, lo, hi)"));
  CHECK_FALSE(never_negative("y = Clip (x, below)"));
  CHECK(never_negative("y = Mul (x, x)"));
  CHECK_FALSE(never_negative("y = Mul (x, x)", "int32"));  // it may wrap around
}
