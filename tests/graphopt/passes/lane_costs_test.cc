#include "graphopt/passes/lane_costs.h"

#include <fmt/core.h>

#include "core/ir/infer.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;

namespace {

/// Do two lanes of [batch, width] pay that exponentiate or, where there is a depth, are products of a weight
/// [depth, width]?
bool pays(const std::string& batch, int64_t width, int64_t depth = 0) {
  const std::string step = depth ? "MatMul ({}, W)" : "Exp ({})";
  const auto lane = [&](const std::string& v) { return std::string(step).replace(step.find("{}"), 2, v); };
  Model model = test::fixture(
      fmt::format("g (float[{},2,{}] x, float[{},{}] W) => (float[P] y) <int64 k0 = {{0}}, int64 k1 = {{1}}> {{ "
                  "p = Gather <axis = 1> (x, k0)  q = Gather <axis = 1> (x, k1)  a = {}  b = {}  "
                  "y = Concat <axis = 1> (a, b) }}",
                  batch, depth ? depth : width, std::max<int64_t>(depth, 1), width, lane("p"), lane("q")),
      21);
  infer(model, test::pass_context().standard_types);
  const Node* join = model.graph->find("y")->producer;
  const auto lanes = graphopt::lanes_of(join->inputs(), {join}, Builder(model, *model.graph, nullptr));
  REQUIRE(lanes);
  return graphopt::pays_at_once(*lanes);
}

}  // namespace

TEST_CASE("values that stay in a cache of 1 MB together are computed at once") {
  CHECK(pays("1", 131072));
  CHECK_FALSE(pays("1", 140000));
  CHECK_FALSE(pays("16", 9000));
}

TEST_CASE("a batch that is not known is taken as one of 8") {
  CHECK(pays("N", 16384));
  CHECK_FALSE(pays("N", 17000));
}

TEST_CASE("a weight that meets few rows is worth reading once") {
  CHECK_FALSE(pays("15", 9000));
  CHECK(pays("15", 9000, 64));
  CHECK_FALSE(pays("17", 9000, 64));
}
