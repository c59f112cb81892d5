#include "core/ir/resize_plan.h"

#include "core/ir/graph.h"
#include "tests/support/catch.h"

namespace mlopt {
namespace {

Expected<ResizePlan> upsampled(std::vector<float> scales, const char* mode) {
  Graph graph;
  const Node* node = graph.add_op("Upsample", {graph.add_value("x")},
                                  {{"scales", std::move(scales), ""}, {"mode", std::string(mode), ""}}, nullptr, "y");
  return resize_plan(NodeView(*node, 7), {1, 2, 3, 8});
}

}  // namespace

TEST_CASE("axes are resized one by one, those first that become shorter") {
  const auto plan = upsampled({1, 1, 2, 0.5f}, "linear");
  REQUIRE(plan);
  CHECK(plan->out == Dims{1, 2, 6, 4});
  CHECK_FALSE(plan->moves);
  REQUIRE(plan->filters.size() == 2);
  CHECK(plan->filters[0].axis == 3);
  CHECK(plan->filters[1].axis == 2);
  // Position 1 of 6 lies at 1 / 2 of the input: half of each neighbour.
  const ResizeFilter& rows = plan->filters[1];
  REQUIRE(rows.taps == 2);
  CHECK(rows.table[2].place == 0);
  CHECK(rows.table[2].weight == 0.5f);
  CHECK(rows.table[3].place == 1);
  CHECK(rows.table[3].weight == 0.5f);
}

TEST_CASE("an axis that keeps its length is left alone, and an empty one is declined") {
  const auto same = upsampled({1, 1, 1, 1}, "nearest");
  REQUIRE(same);
  CHECK(same->moves);
  CHECK(same->filters.empty());
  CHECK_FALSE(upsampled({1, 1, 0.1f, 1}, "nearest"));
  CHECK_FALSE(upsampled({1, 1}, "nearest"));
}

}  // namespace mlopt
