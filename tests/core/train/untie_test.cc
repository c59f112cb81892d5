#include "core/train/untie.h"

#include <set>

#include "core/ir/verify.h"
#include "core/onnx/infer.h"
#include "core/train/graphs.h"
#include "tests/support/catch.h"
#include "tests/support/gradients.h"
#include "tests/support/net.h"
#include "tests/support/rewrite.h"

namespace mlopt::test {

TEST_CASE("a weight that is given as another's Identity becomes its own") {
  Net net;
  Value* x = net.input({3});
  Value* first = net.graph().add_constant("first.bias", tensor({3}, {1, 2, 3}));
  Value* second = net.op("Identity", {first});
  net.graph().rename(second, "second.bias");
  net.output(net.op("Mul", {net.op("Add", {x, first}), second}));
  const std::vector<Datum> at = {tensor({3}, {5, 6, 7})};
  const Tensor before = reference_outputs(net.model, at)[0];
  train::untie_weights(net.model);
  verify(net.model);
  CHECK(listed_ops(net.model) == "Add 1, Mul 1");
  REQUIRE(net.graph().find("second.bias"));
  CHECK(net.graph().find("second.bias")->is_initializer());
  require_close(reference_outputs(net.model, at)[0], before);
}

TEST_CASE("vectors that layers share in several roles become their own, statistics always") {
  Model model = fixture(R"(g (float[2,2,3,3] x, float[2,2,1,1] V, float[2,2,1,1] W, float[2] Ones, float[2] Zeros)
      => (float[2,2,3,3] y) {
    a = Conv (x, V, Zeros)
    b = BatchNormalization (a, Ones, Zeros, Zeros, Ones)
    c = Conv (b, W, Zeros)
    y = BatchNormalization (c, Ones, Zeros, Zeros, Ones)
  })");
  const Model source = clone(model);
  const train::Copies copies = train::untie_weights(model);
  verify(model);
  std::set<const Value*> vectors;
  for (const Node* node : model.graph->nodes())
    for (size_t i = node->is("Conv") ? 2 : 1; i < node->inputs().size(); ++i) vectors.insert(node->inputs()[i]);
  CHECK(vectors.size() == 10);
  CHECK(copies.size() == 8);
  for (const auto& [copy, from] : copies) CHECK((copy != from && model.graph->find(copy) && source.graph->find(from)));
  CHECK(changed_by(source, model).max_abs == 0);
  infer(model, standard_types);
  train::Recipe recipe;
  recipe.loss = train::find_loss("mse");
  recipe.optimizer = train::find_optimizer("sgd");
  const train::TrainingGraphs graphs = train::make_graphs(model, {{2, 2, 3, 3}}, recipe, standard_types);
  CHECK(graphs.parameters.size() == 8);
  CHECK(std::set<std::string>(graphs.statistics.begin(), graphs.statistics.end()).size() == 4);
}

TEST_CASE("a layer that is applied twice stays one, and so do settings") {
  Model model = fixture(R"(g (float[2,3] x, float[3,3] W, float[3] B, float[3] K) => (float[2,3] y) {
    a = MatMul (x, W)  c = Add (a, B)  d = Relu (c)
    e = MatMul (d, W)  f = Add (e, B)
    h = Sigmoid (f)  i = Mul (h, K)  j = Exp (i)  y = Add (j, K)
  })");
  train::untie_weights(model);
  CHECK(model.graph->initializers().size() == 3);
}

TEST_CASE("copies of copies are known by the name that the model gave") {
  constexpr const char* kNet = R"(g (float[2,3] x, float[3,3] V, float[3,3] W, float[3] B) => (float[2,3] y) {
    a = Gemm (x, V, B)  r = Relu (a)  b = Gemm (r, W, B)  y = Add (x, b)
  })";
  Model model = fixture(kNet);
  const train::Copies first = train::untie_weights(model);
  REQUIRE(first.size() == 1);
  CHECK(first.begin()->second == "B");
  Model again = fixture(kNet);
  again.graph->rename(again.graph->find("B"), "A");
  const train::Copies both = train::untie_weights(again, {{"A", "B"}});
  REQUIRE(both.size() == 2);
  for (const auto& [copy, from] : both) CHECK(from == "B");
}

}  // namespace mlopt::test
