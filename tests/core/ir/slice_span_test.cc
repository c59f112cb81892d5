#include "core/ir/slice_span.h"

#include <cstdint>
#include <vector>

#include "core/ir/graph.h"
#include "tests/support/catch.h"

namespace mlopt {
namespace {

std::vector<int64_t> taken(int64_t length, int64_t start, int64_t end, int64_t step) {
  const SliceSpan span = slice_span(length, start, end, step);
  std::vector<int64_t> places;
  for (int64_t i = 0; i < span.count; ++i) places.push_back(span.first + i * span.step);
  return places;
}

using Places = std::vector<int64_t>;
using Ints = std::vector<int64_t>;

}  // namespace

TEST_CASE("a slice takes start, start + step, ... before end") {
  CHECK(taken(7, 1, 6, 2) == Places{1, 3, 5});
  CHECK(taken(7, -3, 100, 1) == Places{4, 5, 6});
  CHECK(taken(7, 5, 2, 1).empty());
  CHECK(taken(7, -100, -5, 1) == Places{0, 1});
  CHECK(taken(0, 0, 5, 1).empty());
}

TEST_CASE("a slice may go backward") {
  CHECK(taken(4, -1, INT64_MIN, -1) == Places{3, 2, 1, 0});
  CHECK(taken(4, 100, -3, -2) == Places{3});
  CHECK(taken(7, 4, -7, -2) == Places{4, 2});
  CHECK(taken(7, 0, 3, -1).empty());
  CHECK(taken(3, -4, INT64_MIN, -1) == Places{0});  // clamped into the axis, where Python takes nothing
  CHECK(taken(0, -1, -9, -1).empty());
}

TEST_CASE("a slice takes steps of any size") {
  CHECK(taken(7, 2, INT64_MAX, INT64_MAX) == Places{2});
  CHECK(taken(7, 6, INT64_MIN, INT64_MIN) == Places{6});
}

TEST_CASE("a Slice takes whole axes where it names none of them, and declines what does not fit") {
  const auto spans = [](const Ints& starts, const Ints& ends, const Ints& axes, const Ints& steps) {
    Graph graph;
    const Node* node = graph.add_op(
        "Slice", {graph.add_value("x")},
        {{"starts", starts, ""}, {"ends", ends, ""}, {"axes", axes, ""}, {"steps", steps, ""}}, nullptr, "y");
    return slice_spans(NodeView(*node, 13), {2, 7, 5});
  };
  const auto found = spans({6, -2}, {0, 9}, {-2, 2}, {-2, 1});
  REQUIRE(found);
  CHECK((*found)[0].count == 2);
  CHECK(((*found)[1].first == 6 && (*found)[1].count == 3 && (*found)[1].step == -2));
  CHECK(((*found)[2].first == 3 && (*found)[2].count == 2));
  CHECK_FALSE(spans({0, 0}, {1, 1}, {1, -2}, {1, 1}));
  CHECK_FALSE(spans({0}, {1}, {1}, {0}));
  CHECK_FALSE(spans({0}, {1, 1}, {1}, {1}));
}

}  // namespace mlopt
