#include "core/ir/view.h"

#include "core/base/error.h"
#include "core/onnx/io.h"
#include "tests/support/catch.h"

using namespace mlopt;

namespace {

Model model() {
  return parse_text(R"(
    <ir_version: 10, opset_import: ["" : 21]>
    main (float[N,4] x, int64[1] given) => (float[N,4] y) <int64[2] axes = {0, 2}, float low = {-1.5}> {
      a = Old <axes = [1], min = 0.5, mode = "up", one: int = 3> (x)
      b = New (x, axes, low)
      y = Free (x, given)
    })");
}

}  // namespace

TEST_CASE("a view reads what an old opset keeps in attributes and a new one in inputs") {
  const Model m = model();
  const auto nodes = m.graph->nodes();
  const NodeView older(*nodes[0], 9), newer(*nodes[1], 21), open(*nodes[2], 21);
  CHECK(older.ints("axes", 1) == std::vector<int64_t>{1});
  CHECK(newer.ints("axes", 1) == std::vector<int64_t>{0, 2});
  CHECK_FALSE(open.ints("axes", 1));
  CHECK(newer.ints("steps", 5, {7}) == std::vector<int64_t>{7});
  CHECK(older.number("min", 2, 0) == 0.5);
  CHECK(newer.number("min", 2, 0) == -1.5);
  CHECK(newer.number("max", 3, 9) == 9);
  CHECK_FALSE(open.number("min", 1, 0));
}

TEST_CASE("a view checks the kinds of attributes") {
  const Model m = model();
  const NodeView view(*m.graph->nodes()[0], 9);
  CHECK(view.get_int("one") == 3);
  CHECK(view.get_int("two", 2) == 2);
  CHECK(view.get_string("mode", "") == "up");
  CHECK(view.get_float("none", 1.5f) == 1.5f);
  CHECK_THROWS_AS(view.get_int("mode"), Error);
  CHECK_THROWS_AS(view.get_int("missing"), Error);
  CHECK_THROWS_AS(view.get_ints("min"), Error);
}
