#include "backends/reference/growth.h"

#include "core/base/error.h"
#include "core/ir/graph.h"
#include "tests/support/catch.h"

namespace mlopt::test {
namespace {

/// How many iterations pass whose values have so many megabytes, which nobody touches.
size_t passed(const std::vector<int64_t>& megabytes) {
  Graph graph;
  const Node& node = *graph.add_node("", "Loop", {}, {});
  const NodeView view(node, 19);
  const BodyRunner no_bodies;
  const Call call(view, {}, {}, no_bodies, 0);
  reference::Growth growth;
  for (size_t i = 0; i < megabytes.size(); ++i) {
    const Datum carried[] = {Tensor(DType::kU8, {megabytes[i] << 20}), Datum()};
    try {
      growth.check(call, carried);
    } catch (const Error& e) {
      REQUIRE(e.code == Code::kUnsupported);
      REQUIRE_THAT(e.what(), Catch::Contains("keeps growing"));
      return i;
    }
  }
  return megabytes.size();
}

TEST_CASE("values that double in every iteration are stopped before they fill the memory") {
  REQUIRE(passed({1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024}) == 9);
}

TEST_CASE("values that get one part more in every iteration may grow large") {
  REQUIRE(passed({0, 100, 200, 300, 400, 500, 600, 700, 800, 900, 1000}) == 11);
}

TEST_CASE("text counts by its length") {
  Graph graph;
  const NodeView view(*graph.add_node("", "Loop", {}, {}), 19);
  const BodyRunner no_bodies;
  const Call call(view, {}, {}, no_bodies, 0);
  reference::Growth growth;
  const auto grow_to = [&](size_t megabytes) {
    const Datum carried[] = {Tensor::of_strings({1}, {std::string(megabytes << 20, 'a')})};
    growth.check(call, carried);
  };
  for (const size_t megabytes : {32, 49, 74, 112}) grow_to(megabytes);
  REQUIRE_THROWS_AS(grow_to(169), Error);
}

}  // namespace
}  // namespace mlopt::test
