#include "backends/cpu/conv_shape.h"

#include "core/ir/graph.h"
#include "tests/support/catch.h"

namespace mlopt::cpu {
namespace {

using Ints = std::vector<int64_t>;

Expected<ConvShape> shape(std::vector<Attr> attrs, const Dims& x, const Dims& w) {
  Graph graph;
  const Node* node = graph.add_op("Conv", {graph.add_value("x"), graph.add_value("w")}, std::move(attrs), nullptr, "y");
  return conv_shape(NodeView(*node, 13), x, w);
}

Attr group(int64_t count) { return {"group", count, ""}; }

}  // namespace

TEST_CASE("the output of a convolution, its weights by group") {
  const auto plain = shape({{"pads", Ints{1, 1, 1, 1}, ""}, {"strides", Ints{2, 1}, ""}}, {2, 6, 9, 7}, {8, 6, 3, 3});
  REQUIRE(plain);
  REQUIRE(plain->dst == Dims{2, 8, 5, 7});
  REQUIRE(plain->weights == Dims{8, 6, 3, 3});
  const auto grouped = shape({group(3)}, {2, 6, 9}, {12, 2, 3});
  REQUIRE(grouped->weights == Dims{3, 4, 2, 3});
  REQUIRE(grouped->dst == Dims{2, 12, 7});
  REQUIRE(grouped->channels_out() == 12);
}

TEST_CASE("what does not fit together is declined") {
  REQUIRE(!shape({}, {2, 6, 9, 7}, {8, 5, 3, 3}));
  REQUIRE(!shape({group(4)}, {2, 6, 9, 7}, {8, 2, 3, 3}));
  REQUIRE(!shape({group(0)}, {2, 6, 9, 7}, {8, 6, 3, 3}));
  REQUIRE(!shape({}, {2, 6, 9, 7}, {8, 6, 3}));
  REQUIRE(!shape({}, {2, 6}, {8, 6}));
  REQUIRE(!shape({{"kernel_shape", Ints{3, 2}, ""}}, {2, 6, 9, 7}, {8, 6, 3, 3}));
  REQUIRE(!shape({}, {2, 6, 2, 7}, {8, 6, 3, 3}));
}

}  // namespace mlopt::cpu
