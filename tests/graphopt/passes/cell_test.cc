#include "graphopt/passes/cell.h"

#include <fmt/core.h>

#include "core/ir/infer.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::Cell;

namespace {

struct Text {
  std::string sequence = "T,B,2", state = "B,3", trips = "0", more = "", given = "float[E,3] o", go = "yes",
              walk = "r = Gather (x, i)", outputs = "y, z";
};

Model model_of(const Text& t, const std::string& cell) {
  Model model = test::fixture(fmt::format(
      "g (float[{}] x, float[{}] s, float[2,6] W, float[3,6] R, float[6] C, float[1,6] D, float[2] E) => "
      "(float[P,3] y) <bool yes = {{1}}, bool no = {{0}}, int64[1] zero = {{0}}, int64[1] one = {{1}}, int64 "
      "k0 = {{0}}, int64 k1 = {{1}}, int64[2] from = {{0, 2}}, int64[2] to = {{2147483647, 5}}, int64[2] cut = "
      "{{1, 5}}, int64[2] sizes = {{2, 4}}> {{ all = Shape (x)  n = Gather (all, k{})  {}  {} = Loop (n, , s) "
      "<body = b (int64 i, bool c, float[E,3] h) => (bool {}, float[E,3] o, {}) {{ {}  {} }}> }}",
      t.sequence, t.state, t.trips, t.more, t.outputs, t.go, t.given, t.walk, cell));
  infer(model, test::pass_context().standard_types);
  return model;
}

std::string reason(const Text& t) {
  const Model model = model_of(t, "o = Tanh (h)");
  const auto cell = Cell::of(*model.graph->find("y")->producer, Builder(model, *model.graph, nullptr));
  return cell ? "a cell" : cell.error().reason;
}

/// "x 0+6 s 0+6 b 0+6" of the value v.
std::string affine(const std::string& nodes) {
  const Model model = model_of({}, nodes + "  o = Tanh (h)");
  const Node* loop = model.graph->find("y")->producer;
  const auto cell = Cell::of(*loop, Builder(model, *model.graph, nullptr));
  REQUIRE(cell);
  const auto found = cell->affine(loop->bodies()[0]->find("v"));
  if (!found) return "none";
  std::string text;
  const auto add = [&](const char* name, const graphopt::Columns& c) {
    text += fmt::format("{}{} {}+{}", text.empty() ? "" : " ", name, c.first, c.count);
  };
  if (found->x) add("x", *found->x);
  if (found->s) add(found->state == cell->state() ? "s" : "product", *found->s);
  for (const auto& bias : found->bias) add("b", bias);
  return text;
}

}  // namespace

TEST_CASE("a Loop over all entries of a sequence that gives its states is a cell") {
  CHECK(reason({}) == "a cell");
  CHECK(reason({.given = "float[E,3] p", .walk = "r = Gather (x, i)  p = Identity (o)"}) == "a cell");
  CHECK(reason({.walk = "j = Cast <to = 6> (i)  r = Gather (x, j)"}) == "a cell");
}

TEST_CASE("other Loops are none") {
  CHECK(reason({.given = "float[E,2] r"}) == "it gives more than states");
  CHECK(reason({.go = "no"}) == "a condition may end it");
  CHECK(reason({.walk = "r = Gather (x, k0)"}) == "it walks along no sequence");
  CHECK(reason({.walk = "r = Gather (x, i)  q = Gather (x, i)"}) == "it walks along two sequences");
  CHECK(reason({.walk = "r = Gather <axis = 1> (x, i)"}) == "it walks along two sequences");
  CHECK(reason({.trips = "1"}) == "it does not walk along the whole sequence");
  CHECK(reason({.state = "A,3"}) == "its state is of another batch than its sequence");
  CHECK(reason({.sequence = "T,B"}) ==
        "its sequence is not of [steps, batch, inputs] or its state not of [batch, units]");
}

TEST_CASE("gates are sums of products with the entry and the state, and of rows") {
  CHECK(affine("v = MatMul (r, W)") == "x 0+6");
  CHECK(affine("v = MatMul (h, R)") == "s 0+6");
  CHECK(affine("k = Mul (h, h)  v = MatMul (k, R)") == "product 0+6");
  CHECK(affine("p = Gemm (r, W, C)  q = MatMul (h, R)  t = Add (q, D)  v = Add (p, t)") == "x 0+6 s 0+6 b 0+6 b 0+6");
  CHECK(affine("p = MatMul (r, W)  v = Add (p, p)") == "none");
  CHECK(affine("p = MatMul (r, W)  v = Add (p, E)") == "none");
  CHECK(affine("p = Relu (r)  v = MatMul (p, W)") == "none");
}

TEST_CASE("parts of a gate are columns of its weights") {
  CHECK(affine("p = Gemm (r, W, C)  v = Slice (p, from, to)") == "x 2+3 b 2+3");
  CHECK(affine("p = MatMul (r, W)  v = Slice (p, one, zero, one)") == "none");
  CHECK(affine("p = MatMul (r, W)  v = Slice (p, cut, to)") == "none");
  CHECK(affine("p = MatMul (r, W)  u, v = Split <axis = 1> (p, sizes)") == "x 2+4");
  CHECK(affine("p = MatMul (r, W)  u, v = Split <axis = -1, num_outputs = 2> (p)") == "x 3+3");
  CHECK(affine("p = MatMul (r, W)  u, v = Split <axis = 0, num_outputs = 2> (p)") == "none");
}

TEST_CASE("activations go by the names of their operators") {
  const Model model = test::fixture("g (float[2] x) => (float[2] y) { a = Tanh (x)  y = Neg (a) }");
  const auto tanh = graphopt::activated(model.graph->find("a"));
  REQUIRE(tanh);
  CHECK(tanh->by == "Tanh");
  CHECK(tanh->of == model.graph->find("x"));
  CHECK_FALSE(graphopt::activated(model.graph->find("y")));
  CHECK_FALSE(graphopt::activated(nullptr));
}
