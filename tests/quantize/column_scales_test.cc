#include "quantize/column_scales.h"

#include "core/onnx/infer.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using namespace mlopt::quantize;

namespace {

/// A model whose products' columns are scaled by 1, 2, 4, 8, and what it computes before and after.
struct Scaled {
  Model model;
  std::vector<Weight> weights;
  std::vector<SharedInput> shared;
  bool folded = false;

  explicit Scaled(const std::string& text) : model(test::fixture(text)) {
    infer(model, standard_types);
    const Model before = clone(model);
    weights = find_weights(model).weights;
    shared = shared_inputs(weights);
    REQUIRE(shared.size() == 1);
    folded = folds_division(shared[0], weights);
    const float first = load(weights[0]).at(0, 3);
    scale_columns(shared[0], weights, {}, {1, 2, 4, 8});
    CHECK(load(weights[0]).at(0, 3) == 8 * first);
    test::require_same_model(before, model, 1e-5);
  }
  int64_t count(const char* op) const {
    int64_t found = 0;
    for (const Node* node : model.graph->nodes()) found += node->is(op);
    return found;
  }
};

}  // namespace

TEST_CASE("the division of an input goes into the normalization that makes it") {
  const Scaled s(R"(g (float[N,4] x, float[4] G, float[4] B, float[4,3] V, float[4,3] W) => (float[N,3] y) {
    n = LayerNormalization (x, G, B)
    a = MatMul (n, V)
    b = MatMul (n, W)
    y = Add (a, b)
  })");
  CHECK(s.shared[0].weights.size() == 2);
  CHECK(s.folded);
  CHECK(s.count("Mul") == 0);
}

TEST_CASE("the division of an input goes into a scale and a bias that are nodes of their own") {
  const Scaled s(R"(g (float[N,4] x, float[4] G, float[4] B, float[4,3] V) => (float[N,3] y) {
    t = Tanh (x)
    m = Mul (G, t)
    n = Add (m, B)
    y = MatMul (n, V)
  })");
  CHECK(s.folded);
  CHECK(s.count("Mul") == 1);
}

TEST_CASE("what others read too is divided by a node") {
  const Scaled s(R"(g (float[N,4] x, float[4] G, float[4] B, float[4,4] V) => (float[N,4] y) {
    n = LayerNormalization (x, G, B)
    a = MatMul (n, V)
    y = Add (a, n)
  })");
  CHECK(!s.folded);
  CHECK(s.count("Mul") == 1);
}

TEST_CASE("a bias whose sum others read does not take the division") {
  const Scaled s(R"(g (float[N,4] x, float[4] G, float[4] B, float[4,4] V) => (float[N,4] y) {
    t = Tanh (x)
    m = Mul (G, t)
    n = Add (m, B)
    a = MatMul (n, V)
    y = Add (a, m)
  })");
  CHECK(!s.folded);
}

TEST_CASE("weights that are read with several inputs, and convolutions, are left out") {
  Model model = test::fixture(R"(g (float[N,4] x, float[4,4] V) => (float[N,4] y) {
    a = MatMul (x, V)
    y = MatMul (a, V)
  })");
  infer(model, standard_types);
  CHECK(shared_inputs(find_weights(model).weights).empty());
}

TEST_CASE("columns of a weight that is read otherwise too are not scaled") {
  for (const char* rest : {"e = Gather (E, ids)  y = MatMul (e, E)", "y = MatMul (E, n)", "y = Identity (t)"}) {
    INFO(rest);
    Model model = test::fixture(
        "g (float[4,4] x, float[4] G, float[4] B, float[4,4] E, int64[N] ids) => "
        "(float[4,4] z, float[N,4] y) { n = LayerNormalization (x, G, B)  t = Transpose (E)  "
        "z = MatMul (n, t)  " +
        std::string(rest) + " }");
    infer(model, standard_types);
    CHECK(shared_inputs(find_weights(model, {.stored_only = true}).weights).empty());
  }
}

TEST_CASE("an input that is added to its own product is divided by a node") {
  const Scaled s(R"(g (float[4,4] x, float[4] G, float[4] B, float[4,4] V) => (float[4,4] y) {
    n = LayerNormalization (x, G, B)
    y = Gemm (n, V, n)
  })");
  CHECK(!s.folded);
  CHECK(s.count("Mul") == 1);
}
