#include "core/calib/handed_in.h"

#include "core/calib/weights.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;

namespace {

/// A state that stays, one that changes from a constant on, one that is no constant, and a slice.
const char* const kLoops = R"(g (int64 n, bool c, float[2,4] x, float[4,4] W, float[2,4] Z, float[3,4,4] S)
                                => (float[2,4] y) {
  [loop] a, k, z = Loop (n, c, x, W, Z) <body = b (int64 i, bool go, float[2,4] u, float[4,4] w, float[2,4] v)
                                                  => (go_on, p, w_on, q) {
    go_on = Identity (go)
    w_same = Identity (w)
    w_on = Identity (w_same)
    w_turned = Transpose (w)
    [layer] m = MatMul (u, w)
    p = Relu (m)
    [turned] q = MatMul (v, w_turned)
  }>
  [scan] y = Scan <num_scan_inputs = 1, body = s (float[2,4] r, float[4,4] t) => (float[2,4] r_on) {
    [sliced] r_on = MatMul (r, t)
  }> (a, S)
})";

const Node& named(const Model& model, const std::string& name) {
  for (const Node* node : all_nodes(*model.graph))
    if (node->name == name) return *node;
  throw std::out_of_range(name);
}

}  // namespace

TEST_CASE("a constant that a body is handed is told from what changes there") {
  const Model model = test::fixture(kLoops);
  const Node &loop = named(model, "loop"), &layer = named(model, "layer"), &turned = named(model, "turned"),
             &sliced = named(model, "sliced");
  CHECK(handed_in(*layer.input(1)) == &loop);
  CHECK(handed_in(*turned.input(1)) == &loop);
  CHECK(handed_in(*sliced.input(1)) == &named(model, "scan"));
  for (const Value* v : {layer.input(0), turned.input(0), sliced.input(0), loop.input(2), loop.input(3)})
    CHECK_FALSE(handed_in(*v));
}

TEST_CASE("layers whose weights are handed to them are named") {
  const Model model = test::fixture(kLoops);
  const Found found = find_weights(model, {.stored_only = true});
  CHECK(found.weights.empty());
  CHECK(found.left.at("layer") == "its weight is handed to the body of Loop 'loop'");
  CHECK(found.left.at("turned") == found.left.at("layer"));
  CHECK(found.left.at("sliced") == "its weight is handed to the body of Scan 'scan'");
}
