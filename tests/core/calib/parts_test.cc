#include "core/calib/parts.h"

#include "backends/reference/backend.h"
#include "tests/support/catch.h"
#include "tests/support/op.h"
#include "tests/support/rewrite.h"

using namespace mlopt;

namespace {

using Names = std::vector<std::string>;

/// A shortcut over two layers, a weight that is transposed before the first node, and a body that reads what is
/// outside.
const char* const kBlocks = R"(g (float[N,3] x, bool c, float[3,4] V, float[3,4] W) => (float[N,3] y) {
  t = Transpose <perm = [1, 0]> (W)
  s = Tanh (x)
  a = MatMul (s, V)
  b = Relu (a)
  d = If (c) <then_branch = g1 () => (float[N,4] e) { e = Add (b, a) },
              else_branch = g2 () => (float[N,4] f) { f = Identity (b) }>
  h = MatMul (d, t)
  y = Add (h, s)
})";

const Node* maker_of(const Model& model, const std::string& value) { return model.graph->find(value)->producer; }

}  // namespace

TEST_CASE("before a node there is what it and those behind it read, bodies too, and nothing that constants make") {
  const Model model = test::fixture(kBlocks);
  CHECK(values_before(model, *maker_of(model, "s")) == Names{"x", "c"});
  CHECK(values_before(model, *maker_of(model, "d")) == Names{"c", "s", "a", "b"});
  CHECK(values_before(model, *maker_of(model, "h")) == Names{"s", "d"});
}

TEST_CASE("what chance makes is made once, also of constants") {
  const Model model = test::fixture(R"(g (float[3] x, float[3] W) => (float[3] y) {
    n = RandomNormalLike (W)
    t = Tanh (W)
    a = Add (x, n)
    b = Add (a, t)
    y = Mul (b, n)
  })");
  CHECK(values_before(model, *maker_of(model, "b")) == Names{"n", "a"});
}

TEST_CASE("a part makes of the values between what the whole makes") {
  const Model model = test::fixture(kBlocks);
  const auto backend = reference_backend();
  const Tensor x = test::uniform({2, 3}, -1, 1), c = Tensor::scalar(true);
  const Names from = {"s", "d", "gone"}, outputs = {"y"};
  const Model second = part_between(model, from, outputs);
  CHECK(test::operators(*second.graph) == "Transpose MatMul Add");
  const Model first = part_between(model, Names{"x", "c"}, Names{"d", "s"});
  const auto middle = backend->compile(first, {})->run(std::vector<Datum>{x, c});
  const auto plan = backend->compile(second, {});
  REQUIRE(plan->input_names() == Names{"s", "d"});
  const auto part = plan->run(std::vector<Datum>{middle[1], middle[0]});
  const auto whole = backend->compile(model, {})->run(std::vector<Datum>{x, c});
  test::require_close(part[0].tensor(), whole[0].tensor(), 0);
}

TEST_CASE("the first change is where values change, not where constants do") {
  const Model model = test::fixture(kBlocks);
  CHECK(first_changed(model, Names{"W"}) == maker_of(model, "h"));
  CHECK(first_changed(model, Names{"W", "V"}) == maker_of(model, "a"));
  CHECK(first_changed(model, Names{"in a body"}) == maker_of(model, "d"));
  CHECK(first_changed(model, Names{}) == nullptr);
}

TEST_CASE("parts begin where constants would be more than the limit") {
  const Model model = test::fixture(kBlocks);  // 48 bytes each
  CHECK(part_starts(model, 96).empty());
  const auto starts = part_starts(model, 50);
  REQUIRE(starts.size() == 1);
  CHECK(starts[0] == maker_of(model, "a"));
}
