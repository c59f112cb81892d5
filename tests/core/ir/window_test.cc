#include "core/ir/window.h"

#include "core/ir/graph.h"
#include "tests/support/catch.h"

namespace mlopt {
namespace {

using Ints = std::vector<int64_t>;

Expected<Window> window(std::vector<Attr> attrs, const Dims& spatial, const Dims& kernel) {
  Graph graph;
  const Node* node = graph.add_op("MaxPool", {graph.add_value("x")}, std::move(attrs), nullptr, "y");
  return window_over(NodeView(*node, 13), spatial, kernel);
}

}  // namespace

TEST_CASE("a window has no padding and steps by one unless said") {
  const auto w = window({}, {5, 6}, {3, 2});
  REQUIRE(w);
  REQUIRE(w->strides == Dims{1, 1});
  REQUIRE(w->gaps() == Dims{0, 0});
  REQUIRE(*positions(*w, {5, 6}) == Dims{3, 5});
  REQUIRE(!w->is_point());
  REQUIRE(window({}, {5, 6}, {1, 1})->is_point());
  REQUIRE(!window({{"pads", Ints{0, 0, 0, 1}, ""}}, {5, 6}, {1, 1})->is_point());
}

TEST_CASE("dilations widen the window") {
  const auto w = window({{"dilations", Ints{2, 3}, ""}}, {7, 7}, {3, 2});
  REQUIRE(w->extent(0) == 5);
  REQUIRE(w->extent(1) == 4);
  REQUIRE(*positions(*w, {7, 7}) == Dims{3, 4});
}

TEST_CASE("SAME pads the odd element after or before") {
  for (const bool lower : {false, true}) {
    const auto w = window(
        {{"auto_pad", std::string(lower ? "SAME_LOWER" : "SAME_UPPER"), ""}, {"strides", Ints{2}, ""}}, {6}, {3});
    REQUIRE(w->begin == Dims{lower ? 1 : 0});
    REQUIRE(w->end == Dims{lower ? 0 : 1});
    REQUIRE(*positions(*w, {6}) == Dims{3});
  }
}

TEST_CASE("a last window that begins in the padding does not count") {
  const auto w = window({{"strides", Ints{2}, ""}, {"pads", Ints{0, 1}, ""}}, {4}, {1});
  REQUIRE(*positions(*w, {4}, false) == Dims{3});
  REQUIRE(*positions(*w, {4}, true) == Dims{2});
}

TEST_CASE("malformed windows are declined") {
  REQUIRE(!window({{"strides", Ints{0, 1}, ""}}, {5, 6}, {3, 2}));
  REQUIRE(!window({{"strides", Ints{1}, ""}}, {5, 6}, {3, 2}));
  REQUIRE(!window({{"pads", Ints{0, 0, 0}, ""}}, {5, 6}, {3, 2}));
  REQUIRE(!window({{"pads", Ints{0, -1, 0, 0}, ""}}, {5, 6}, {3, 2}));
  REQUIRE(!window({{"auto_pad", std::string("AROUND"), ""}}, {5, 6}, {3, 2}));
  REQUIRE(!window({{"dilations", Ints{int64_t{1} << 40, 1}, ""}}, {5, 6}, {3, 2}));
  REQUIRE(!positions(*window({}, {2, 6}, {3, 2}), {2, 6}));
}

}  // namespace mlopt
