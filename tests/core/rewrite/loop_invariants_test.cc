#include "core/rewrite/loop_invariants.h"

#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using test::rewritten;

namespace {

/// Carries x, which it changes, and w.
std::string loop(const std::string& body, const std::string& results) {
  return "g (double[2] x, double[2] w) => (double[2] y, double[2] q, double[M,2] z) <int64 n = {3}, bool go = {1}> { "
         "y, o, z = Loop (n, go, x, w) <body = b (int64 i, bool c, double[2] v, double[2] m) => (" +
         results + ") { k = Identity (c)  " + body + " }>  q = Neg (o) }";
}

const std::string kOutputs = "bool k, double[2] u, double[2] p, double[2] s";

Node* first_loop(const Model& model) {
  for (Node* node : model.graph->nodes())
    if (node->is("Loop") || node->is("Scan")) return node;
  return nullptr;
}

Model freed(const std::string& text) {
  Model model = test::fixture(text);
  run_pass(model, loop_invariants, test::pass_context());
  return model;
}

}  // namespace

TEST_CASE("what a Loop only passes on is a value from outside") {
  const std::string text = loop("u = Mul (v, m)  p = Identity (m)  s = Add (u, m)", kOutputs);
  CHECK(rewritten(loop_invariants, text) == "Loop[Identity Mul Add] Neg");
  const Model model = freed(text);
  const Node* node = first_loop(model);
  REQUIRE(node);
  CHECK(node->inputs().size() == 3);
  CHECK(node->outputs().size() == 2);
  CHECK(node->bodies()[0]->inputs().size() == 3);
  CHECK(node->bodies()[0]->outputs().size() == 3);
  CHECK(captures(*node->bodies()[0]) == std::vector<Value*>{model.graph->find("w")});
}

TEST_CASE("an input that is itself the result needs no Identity") {
  CHECK(
      freed(loop("u = Mul (v, m)  s = Add (u, m)", "bool k, double[2] u, double[2] m, double[2] s")).graph->find("o") ==
      nullptr);
}

TEST_CASE("a value that changes, one that is collected too, and one that a Loop gives as an output stay") {
  for (const std::string& text : {loop("u = Mul (v, m)  p = Neg (m)  s = Add (u, m)", kOutputs),
                                  loop("u = Mul (v, m)  p = Identity (v)  s = Add (u, m)", kOutputs),
                                  loop("u = Mul (v, m)", "bool k, double[2] u, double[2] m, double[2] m")})
    CHECK(first_loop(freed(text))->inputs().size() == 4);
  std::string output = loop("u = Mul (v, m)  p = Identity (m)  s = Add (u, m)", kOutputs);
  output.replace(output.find("double[2] q"), 11, "double[2] o");
  output.replace(output.find("q = Neg (o)"), 11, "");
  CHECK(first_loop(freed(output))->inputs().size() == 4);
}

TEST_CASE("a Scan's state that stays is a value from outside, and what it walks along is not") {
  const std::string text =
      "g (double[2] s, double[2] w, double[9,2] x) => (double[2] y, double[9,2] z) { y, o, z = Scan (s, w, x) "
      "<num_scan_inputs = 1, body = b (double[2] t, double[2] m, double[2] v) => (double[2] u, double[2] p, double[2] "
      "e) { u = Mul (t, m)  p = Identity (m)  e = Add (v, m) }> }";
  CHECK(rewritten(loop_invariants, text) == "Scan[Mul Add]");
  CHECK(first_loop(freed(text))->inputs().size() == 2);
}
