#include "graphopt/passes/row_by_row.h"

#include "core/base/text.h"
#include "core/ir/infer.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;

namespace {

/// The names of the values that turn together with those of the node y, of three axes.
std::string together(const std::string& node, int64_t opset = 17) {
  Model model = test::fixture(
      "g (float[A,B,4] x, float[A,B,4] z, float[1,1,4] r, float[1,B,4] b, float[B,4] m, "
      "float[4] v, float[4,4] w) => (float[A,B,U] y) <int64[2] parts = {2, 2}> { " +
          node + " }",
      opset);
  infer(model);
  const Graph& graph = *model.graph;
  const auto all = graphopt::turning_together(*graph.find("y")->producer, 3, Builder(model, *model.graph, nullptr));
  std::vector<std::string> names;
  if (!all) return "none";
  for (const Value* value : all->rows) names.push_back(value->name);
  for (const int i : all->beside) names.push_back(std::to_string(i));
  return join(names, " ");
}

}  // namespace

TEST_CASE("operands of all three axes turn with the result, one row for all does not") {
  CHECK(together("y = Add (x, z)") == "x z y");
  CHECK(together("y = Mul (r, x)") == "x y");
  CHECK(together("y = Sub (x, v)") == "x y");
  CHECK(together("y = Add (x, b)") == "x b y");
  CHECK(together("y = Add (x, m)") == "x y 1");
  CHECK(together("y = Add (m, x)") == "x y 0");
  CHECK(together("y = Add (m, m)") == "none");
  CHECK(together("y = CumSum (x, v)") == "none");
}

TEST_CASE("what works along the last axis does so by rows") {
  CHECK(together("y = MatMul (x, w)") == "x y");
  CHECK(together("y = MatMul (x, z)") == "none");
  CHECK(together("y = LayerNormalization <axis = 2> (x, v)") == "x y");
  CHECK(together("y = LayerNormalization <axis = -2> (x, w)") == "none");
  CHECK(together("y = LpNormalization (x)") == "x y");
  CHECK(together("y = LpNormalization <axis = 1> (x)") == "none");
  CHECK(together("y = Softmax (x)") == "x y");
  CHECK(together("y = Softmax (x)", 11) == "none");
  CHECK(together("y, u = Split <axis = 2> (x, parts)") == "x y u");
  CHECK(together("y, u = Split <axis = 0> (x, parts)") == "none");
  CHECK(together("y = Concat <axis = -1> (x, z)") == "x z y");
  CHECK(together("y = Concat <axis = 1> (x, z)") == "none");
}

TEST_CASE("a Transpose of rows leaves the last axis") {
  const auto order = [](const std::string& node) {
    Model model = test::fixture("g (float[A,B,4] x) => (float[U,V,W] y) { y = " + node + " }");
    const auto found = graphopt::order_of_rows({*model.graph->find("y")->producer, model.opset()});
    return found.value_or(std::vector<int64_t>{});
  };
  CHECK(order("Transpose <perm = [1, 0, 2]> (x)") == std::vector<int64_t>{1, 0, 2});
  CHECK(order("Transpose <perm = [2, 1, 0]> (x)").empty());
  CHECK(order("Transpose <perm = [0, 0, 2]> (x)").empty());
  CHECK(order("Transpose <perm = [1, -3, 2]> (x)").empty());
  CHECK(order("Relu (x)").empty());
}
