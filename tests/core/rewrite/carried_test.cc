#include "core/rewrite/carried.h"

#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;

namespace {

const std::string kLoop =
    "g (float[2] x, float[2] w) => (float[2] y, float[M,2] z) <int64 n = {3}, bool go = {1}> { y, o, z = Loop (n, go, "
    "x, "
    "w) <body = b (int64 i, bool c, float[2] v, float[2] m) => (bool k, float[2] u, float[2] p, float[2] s) { k = "
    "Identity (c)  u = Mul (v, m)  p = Identity (m)  s = Add (u, m) }> }";
const std::string kScan =
    "g (float[2] s, float[9,2] x) => (float[2] y, float[9,2] z) { y, z = Scan (s, x) <num_scan_inputs = 1, body = b "
    "(float[2] t, float[2] v) => (float[2] u, float[2] e) { u = Add (t, v)  e = Neg (u) }> }";

Carried carried(const Model& model, int64_t opset = 21) {
  for (const Node* node : model.graph->nodes())
    if (!node->bodies().empty()) return carried_by({*node, opset});
  return {};
}

}  // namespace

TEST_CASE("a Loop carries what follows its condition, a Scan what comes before the sequences") {
  const Model loop = test::fixture(kLoop), scan = test::fixture(kScan);
  const Carried of_loop = carried(loop), of_scan = carried(scan);
  CHECK(of_loop.count == 2);
  const Graph& body = *loop.graph->find("y")->producer->bodies()[0];
  CHECK(of_loop.parameter(body, 1)->name == "m");
  CHECK(of_loop.made(body, 1)->name == "p");
  CHECK(of_scan.count == 1);
  CHECK(of_scan.parameter(*scan.graph->find("y")->producer->bodies()[0], 0)->name == "t");
  CHECK(carried(scan, 8).count == 0);
}

TEST_CASE("other nodes, and bodies that do not fit, carry nothing") {
  Model model = test::fixture(kLoop);
  Node* loop = model.graph->find("y")->producer;
  while (loop->bodies()[0]->outputs().size() > 2) loop->bodies()[0]->remove_output(2);
  CHECK(carried(model).count == 0);
  const Model other = test::fixture("g (float[2] x) => (float[2] y) { y = Neg (x) }");
  CHECK(carried_by({*other.graph->find("y")->producer, 21}).count == 0);
}

TEST_CASE("a carried value that is dropped is read from elsewhere, inside and outside") {
  Model model = test::fixture(kLoop);
  Node* loop = model.graph->find("y")->producer;
  const Graph& body = *loop->bodies()[0];
  drop_carried(loop, carried(model), 1, model.graph->find("w"), model.graph->find("w"));
  CHECK(loop->inputs().size() == 3);
  CHECK(loop->outputs().size() == 2);
  CHECK(body.inputs().size() == 3);
  CHECK(body.outputs().size() == 3);
  CHECK(body.find("u")->producer->input(1) == model.graph->find("w"));
}
