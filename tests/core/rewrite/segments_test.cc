#include "core/rewrite/segments.h"

#include "core/ir/infer.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;

TEST_CASE("a network is cut where one value alone is read later") {
  Model model = test::fixture(R"(
    g (float[N,4] x, float[N,1] m, float[4,4] V, float[4,4] W, float[4,4] U) => (float[N,4] y) {
      a = MatMul (x, V)
      n = Sigmoid (m)
      b = Relu (a)
      c = MatMul (b, W)
      d = Mul (c, n)
      e = Add (d, b)
      y = MatMul (e, U)
    })");
  infer(model);
  std::vector<std::string> ends;
  std::vector<bool> weights;
  for (const GraphSegment& s : segments(model)) {
    ends.push_back(s.end->name);
    weights.push_back(s.has_weights);
  }
  CHECK(ends == std::vector<std::string>{"a", "b", "e", "y"});  // n comes from no weight and goes beside
  CHECK(weights == std::vector<bool>{true, false, true, true});
}

TEST_CASE("what two later nodes read of two values is cut nowhere") {
  Model model = test::fixture(R"(
    g (float[N,4] x, float[4,4] V, float[4,4] W) => (float[N,4] y) {
      a = MatMul (x, V)
      b = MatMul (x, W)
      c = Mul (a, b)
      y = Add (c, a)
    })");
  infer(model);
  const std::vector<GraphSegment> all = segments(model);
  REQUIRE(all.size() == 2);  // a, while nothing else is known yet, and y
  CHECK(all[1].end->name == "y");
}
