#include "core/onnx/older/steps.h"

#include "core/ir/verify.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using namespace mlopt::proto;

namespace {

/// `made` makes axes of the number -1.
Model squeezed(const std::string& made, const std::string& more = "") {
  return test::fixture("g (float[3,1] x) => (float[3] y" + more + ") <int64[1] m = {-1}> { " + made +
                       "  y = Squeeze (x, axes) }");
}

Node* reader(const Model& model) { return model.graph->find("y")->producer; }

std::string left_of(const Model& model) {
  CHECK(verify(model).empty());
  std::string ops;
  for (const Node* node : model.graph->nodes()) ops += node->op + " ";
  return ops;
}

}  // namespace

TEST_CASE("an input that is dropped goes with all that only it was made of") {
  const Model twice = squeezed("n = Neg (m)  k = Mul (n, m)  p = Add (k, n)  axes = Add (p, m)");
  older::drop_input(*reader(twice), 1);
  CHECK(left_of(twice) == "Squeeze ");
  CHECK_FALSE(twice.graph->find("m"));
}

TEST_CASE("what something else reads stays") {
  const Model model = squeezed("n = Neg (m)  axes = Neg (n)", ", int64[1] n");
  older::drop_input(*reader(model), 1);
  CHECK(left_of(model) == "Neg Squeeze ");
  CHECK(model.graph->find("m"));
}

TEST_CASE("numbers take the place of an input that was computed") {
  const Model model = squeezed("axes = Abs (m)");
  older::give_ints(*reader(model), 1, "axes", {1});
  CHECK(left_of(model) == "Squeeze ");
  CHECK(older::numbers(*reader(model), 1) == std::vector<int64_t>{1});
}

TEST_CASE("attributes that older opsets lack are dropped where they say nothing") {
  const Model model = test::fixture("g (float[3] x) => (float[3] y) { y = Test <a = [1, 1], b = 2> (x) }");
  Node& node = *reader(model);
  CHECK(older::drop_ones(node, "a").empty());
  CHECK_FALSE(node.attr("a"));
  CHECK(older::drop_ones(node, "b") == "older opsets lack its attribute 'b'");
  CHECK(older::drop(node, "b").empty());
  CHECK_FALSE(node.attr("b"));
}
