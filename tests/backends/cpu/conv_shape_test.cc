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

TEST_CASE("primitives have axes of one position in front") {
  const Attr pads{"pads", Ints{2, 0, 1, 0}, ""}, strides{"strides", Ints{2, 1}, ""};
  const ConvShape turned = long_axes_last(*shape({pads, strides}, {2, 6, 9, 1}, {8, 6, 3, 1}));
  REQUIRE(turned.src == Dims{2, 6, 1, 9});
  REQUIRE(turned.weights == Dims{8, 6, 1, 3});
  REQUIRE(turned.dst == Dims{2, 8, 1, 5});
  REQUIRE(turned.window.strides == Dims{1, 2});
  REQUIRE(turned.window.begin == Dims{0, 2});
  REQUIRE(turned.window.end == Dims{0, 1});
  REQUIRE(long_axes_last(*shape({group(3)}, {2, 6, 9, 1, 1}, {12, 2, 3, 1, 1})).weights == Dims{3, 4, 2, 1, 1, 3});
  // One position of several taps, several positions of one tap: as they are.
  REQUIRE(long_axes_last(*shape({}, {2, 6, 9, 3}, {8, 6, 1, 3})).src == Dims{2, 6, 9, 3});
  REQUIRE(long_axes_last(*shape({}, {2, 6, 3, 9}, {8, 6, 3, 1})).src == Dims{2, 6, 3, 9});
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
