#include "graphopt/passes/part_product.h"

#include "core/ir/infer.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;

namespace {

/// The operators once the product that gives `part` is parted; "none" where it cannot be.
std::string parted(const std::string& nodes, const char* part, int64_t opset = 21) {
  const Model source = test::fixture(
      "g (double[N,4] x, double[4,6] W, double[6] B, double[1] O, double[4,6] w) => (double[N,1] a, double[N,2] b, "
      "double[N,3] c) "
      "<int64[3] widths = {1, 2, 3}> { " +
          nodes + "  a = Neg (p)  b = Neg (q)  c = Neg (r) }",
      opset);
  Model model = clone(source);
  infer(model);
  Graph& graph = *model.graph;
  const Value& value = *graph.find(part);
  Builder builder(model, graph, value.producer);
  const auto joined = graphopt::joined_product(value, builder);
  if (!joined) return "none";
  graphopt::part_product(*joined, builder);
  infer(model);
  test::require_same_model(source, model, 1e-12);
  return test::operators(graph);
}

const std::string kSplit = "p, q, r = Split <axis = 1> (j, widths)";

}  // namespace

TEST_CASE("the first or last part of a product is one of its own") {
  CHECK(parted("j = MatMul (x, W)  " + kSplit, "p") == "Split MatMul Split MatMul Neg Neg Neg");
  CHECK(parted("j = MatMul (x, W)  " + kSplit, "r") == "Split MatMul Split MatMul Neg Neg Neg");
  CHECK(parted("m = MatMul (x, W)  j = Add (m, B)  " + kSplit, "p") ==
        "Split Split MatMul Add Split MatMul Add Neg Neg Neg");
  CHECK(parted("j = MatMul (x, W)  p, q, r = Split <axis = -1, split = [1, 2, 3]> (j)", "p", 11) ==
        "Split MatMul Split MatMul Neg Neg Neg");
}

TEST_CASE("a part in the middle, and parts of what is no product with constants of its own, stay") {
  CHECK(parted("j = MatMul (x, W)  " + kSplit, "q") == "none");
  CHECK(parted("j = MatMul (x, w)  " + kSplit, "p") == "none");
  CHECK(parted("m = MatMul (x, W)  j = Add (m, O)  " + kSplit, "p") == "none");
  CHECK(parted("t = MatMul (x, W)  s = MatMul (x, W)  j = Sub (t, s)  " + kSplit, "p") == "none");
  CHECK(parted("t = MatMul (x, W)  s = Neg (W)  m = Gemm (x, s)  j = Add (t, B)  " + kSplit, "p") == "none");
}
