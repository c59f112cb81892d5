#include "graphopt/passes/cell.h"

#include <fmt/core.h>

#include "core/ir/infer.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::Cell;

namespace {

Model model_of(const std::string& cell) {
  Model model = test::fixture(fmt::format(
      "g (float[T,B,2] x, float[B,3] s) => (float[P,3] y) <float[2,6] W = {{0,1,2,3,4,5,6,7,8,9,10,11}}, float[3,6] R "
      "= "
      "{{0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17}}, float[6,2] Q = {{0,1,2,3,4,5,6,7,8,9,10,11}}, float[6] C = "
      "{{1,2,3,4,5,6}}, float[1,6] D = {{1,2,3,4,5,6}}, float[2] E = {{1,2}}, bool yes = {{1}}, int64[1] zero = {{0}}, "
      "int64[1] one = {{1}}, int64 k0 = {{0}}, int64[2] from = {{0, 2}}, int64[2] to = {{2147483647, 5}}, int64[2] cut "
      "= {{1, 5}}, int64[2] sizes = {{2, 4}}> {{ all = Shape (x)  n = Gather (all, k0)  y, z = Loop (n, , s) <body = b "
      "(int64 i, bool c, float[E,3] h) => (bool yes, float[E,3] o, float[E,3] o) {{ r = Gather (x, i)  {}  o = Tanh "
      "(h) }}> }}",
      cell));
  infer(model, test::pass_context().standard_types);
  return model;
}

/// "x 0+6 s 0+6 b 0+6" of the value v.
std::string affine(const std::string& nodes) {
  const Model model = model_of(nodes);
  const Graph& body = *model.graph->find("y")->producer->bodies()[0];
  const Builder builder(model, *model.graph, nullptr);
  const Cell cell(body.find("r"), body.find("h"), body.find("o"), builder);
  const auto found = cell.affine(body.find("v"));
  if (!found) return "none";
  std::string text;
  const auto add = [&](const char* name, const graphopt::Columns& c) {
    text += fmt::format("{}{} {}+{}", text.empty() ? "" : " ", name, c.first, c.count);
  };
  if (found->x) add("x", *found->x);
  if (found->s) add(cell.is_state(found->state) ? "s" : "product", *found->s);
  for (const auto& bias : found->bias) add("b", bias);
  return text;
}

}  // namespace

TEST_CASE("gates are sums of products with the entry and the state, and of rows") {
  CHECK(affine("v = MatMul (r, W)") == "x 0+6");
  CHECK(affine("v = MatMul (h, R)") == "s 0+6");
  CHECK(affine("k = Mul (h, h)  v = MatMul (k, R)") == "product 0+6");
  CHECK(affine("p = Gemm (r, W, C)  q = MatMul (h, R)  t = Add (q, D)  v = Add (p, t)") == "x 0+6 s 0+6 b 0+6 b 0+6");
  CHECK(affine("v = Gemm <transB = 1> (r, Q, C)") == "x 0+6 b 0+6");
  CHECK(affine("v = Gemm <transA = 1> (r, W)") == "none");
  CHECK(affine("v = Gemm <alpha = 0.5> (r, W)") == "none");
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

TEST_CASE("columns of a matrix, or of it transposed") {
  const Model model = model_of("v = Relu (r)");
  const graphopt::Columns plain{model.graph->find("W"), 2, 4}, turned{model.graph->find("Q"), 2, 4, true};
  CHECK(plain.rows() == 2);
  CHECK(plain.at(1, 3) == 11);
  CHECK(turned.rows() == 2);
  CHECK(turned.at(1, 3) == 11);
  CHECK(turned.at(0, 1) == 6);
}

TEST_CASE("entries are pieces of a sequence along its first two axes, which may be turned round") {
  Model model = test::fixture(
      "g (float[4,B,2] x, float[B,5,2] z) => (float[B,2] a, float[B,2] b, float[B,2] c, float[4,B] d, float[1,B,2] e) "
      "<int64 k1 = {1}, int64[1] m1 = {-1}, int64[1] least = {-9223372036854775807}, int64[1] one = {1}, int64[1] zero "
      "= {0}, int64[1] two = {2}> { a = Gather (x, k1)  b = Gather <axis = 1> (z, k1)  r = Slice (z, m1, least, one, "
      "m1)  c = Gather <axis = 1> (r, k1)  d = Gather <axis = 2> (x, k1)  e = Slice (x, one, two, zero) }");
  infer(model, test::pass_context().standard_types);
  const Builder builder(model, *model.graph, nullptr);
  const auto entry = [&](const char* name) {
    const auto piece = graphopt::entry_at(model.graph->find(name), builder);
    return piece ? fmt::format("{}, axis {}, at {}", piece->of->name, piece->axis, piece->start) : "none";
  };
  CHECK(entry("a") == "x, axis 0, at 1");
  CHECK(entry("b") == "z, axis 1, at 1");
  CHECK(entry("c") == "z, axis 1, at 3");
  CHECK(entry("d") == "none");
  CHECK(entry("e") == "none");
}
