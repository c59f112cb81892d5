#include "core/ir/reduced_axes.h"

#include "core/base/error.h"
#include "core/ir/graph.h"
#include "tests/support/catch.h"

namespace mlopt {
namespace {

Expected<std::vector<bool>> reduced(std::vector<Attr> attrs) {
  Graph graph;
  const Node* node = graph.add_op("ReduceMax", {graph.add_value("x")}, std::move(attrs), nullptr, "y");
  return reduced_axes(NodeView(*node, 13), 4);
}

using Ints = std::vector<int64_t>;

}  // namespace

TEST_CASE("axes count from either end, and none means all but where that means nothing") {
  CHECK(*reduced({{"axes", Ints{0, -1}, ""}}) == std::vector<bool>{true, false, false, true});
  CHECK(*reduced({}) == std::vector<bool>(4, true));
  CHECK(*reduced({{"noop_with_empty_axes", int64_t{1}, ""}}) == std::vector<bool>(4, false));
  CHECK_THROWS_AS(reduced({{"axes", Ints{4}, ""}}), Error);
}

TEST_CASE("neighbouring axes are reduced as one, each group in what those before it leave") {
  const auto groups = reduction_groups({2, 3, 5, 7, 11}, {true, true, false, true, false});
  REQUIRE(groups.size() == 2);
  CHECK(groups[0].outer == 30);
  CHECK(groups[0].length == 7);
  CHECK(groups[0].inner == 11);
  CHECK(groups[1].outer == 1);
  CHECK(groups[1].length == 6);
  CHECK(groups[1].inner == 55);
  CHECK(reduction_groups({2, 3}, {false, false}).empty());
}

}  // namespace mlopt
