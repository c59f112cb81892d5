#include "graphopt/passes/axis_order.h"

#include "core/ir/infer.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::AxisOrder;
using Axes = std::vector<int64_t>;

namespace {

/// After all nodes of the body, which reads x; nothing where it cannot be followed.
std::optional<AxisOrder> order_of(const std::string& x, const std::string& constants, const std::string& body) {
  Model model = test::fixture("g (" + x + " x) => (float[A] y) <" + constants + "> {" + body + "}");
  infer(model);
  const Builder builder(model, *model.graph, nullptr);
  AxisOrder order(model.graph->find("x")->type.dims->size());
  const std::vector<Node*> nodes = model.graph->nodes();
  return order.apply({nodes.begin(), nodes.end()}, builder) ? std::optional(order) : std::nullopt;
}

}  // namespace

TEST_CASE("an axis is followed through what moves, takes away and puts in axes") {
  const AxisOrder squeezed = order_of("float[1,C,H,W]", "int64[1] first = {0}",
                                      "a = Transpose <perm = [0, 2, 3, 1]> (x)  y = Squeeze (a, first)")
                                 .value();
  CHECK(squeezed.axes() == Axes{2, 3, 1});
  CHECK(squeezed.squeezed() == Axes{0});
  CHECK(squeezed.cost() == 3);
  const AxisOrder added = order_of("float[H,W]", "int64[2] ends = {0, -1}", "y = Unsqueeze (x, ends)").value();
  CHECK(added.axes() == Axes{AxisOrder::kNew, 0, 1, AxisOrder::kNew});
  CHECK(added.has_new_axes());
  CHECK(order_of("float[A,B,C]", "", "y = Transpose (x)").value().axes() == Axes{2, 1, 0});
}

TEST_CASE("an axis that comes back is the one that went") {
  const AxisOrder back =
      order_of("float[A,1,B,1]", "int64[2] s = {1, 3}, int64[2] u = {1, 3}", "a = Squeeze (x, s)  y = Unsqueeze (a, u)")
          .value();
  CHECK(back.axes() == Axes{0, 1, 2, 3});
  CHECK(back.cost() == 0);
  const AxisOrder elsewhere = order_of("float[1,A,B]", "int64[1] first = {0}, int64[1] last = {2}",
                                       "a = Squeeze (x, first)  y = Unsqueeze (a, last)")
                                  .value();
  CHECK(elsewhere.axes() == Axes{1, 2, 0});
  CHECK_FALSE(elsewhere.has_new_axes());
}

TEST_CASE("what is not known is not followed") {
  CHECK_FALSE(order_of("float[1,A]", "", "y = Squeeze (x)"));
  CHECK_FALSE(order_of("float[2,A]", "", "y = Relu (x)"));
  CHECK_FALSE(order_of("float[2,A,B]", "", "y = Transpose <perm = [0, -1, 1]> (x)"));
  CHECK_FALSE(order_of("float[2,A]", "int64[1] s = {-1}", "y = Reshape (x, s)"));
}
