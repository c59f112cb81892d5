#include "core/ir/trips.h"

#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;

namespace {

std::optional<int64_t> trips_in(const std::string& text, int64_t opset = 21) {
  const Model model = test::fixture(text, opset);
  for (const Node* node : model.graph->nodes())
    if (!node->bodies().empty()) return trips({*node, opset}, *node->bodies()[0]);
  return std::nullopt;
}

std::optional<int64_t> loop(const std::string& inputs, const std::string& condition = "Identity (c)") {
  return trips_in(
      "g (float[2] x, int64 m, bool e) => (float[2] y) <int64 n = {3}, bool go = {1}, bool no = {0}> "
      "{ y = Loop (" +
      inputs + ", x) <body = b (int64 i, bool c, float[2] v) => (bool k, float[2] u) { k = " + condition +
      "  u = Neg (v) }> }");
}

std::optional<int64_t> scan(const std::string& axes, int64_t opset = 21) {
  return trips_in("g (float[2] s, float[9,7,2] x) => (float[2] y) { y = Scan (s, x) <num_scan_inputs = 1, " + axes +
                      "body = b (float[2] t, float[?,2] v) => (float[2] u) { u = Neg (t) }> }",
                  opset);
}

}  // namespace

TEST_CASE("a Loop runs as often as its count says where nothing else ends it") {
  CHECK(loop("n, go") == 3);
  CHECK(loop("n, ") == 3);
  CHECK(loop("n, go", "Identity (go)") == 3);
  for (const char* inputs : {"m, go", "n, e", "n, no"}) CHECK_FALSE(loop(inputs));
  CHECK_FALSE(loop("n, go", "Not (c)"));
}

TEST_CASE("a Scan runs as often as its axis is long") {
  CHECK(scan("") == 9);
  CHECK(scan("scan_input_axes = [-2], ") == 7);
  CHECK_FALSE(scan("scan_input_axes = [3], "));
  CHECK_FALSE(scan("", 8));
}
