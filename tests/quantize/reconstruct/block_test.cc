#include "quantize/reconstruct/block.h"

#include <cmath>

#include "backends/reference/backend.h"
#include "core/onnx/tools.h"
#include "core/tensor/cast.h"
#include "quantize/methods.h"
#include "tests/support/catch.h"
#include "tests/support/op.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using namespace mlopt::quantize;

namespace {

constexpr int64_t kInputs = 5, kSamples = 40;
constexpr float kStep = 0.7F;

/// Two products one after the other, so that their errors can make up for one another.
struct Bench {
  std::unique_ptr<Backend> backend = reference_backend();
  Runner runner{*backend, inline_functions};
  Model model = test::fixture(R"(
    g (float[N,5] x, float[5,2] W, float[2,1] V) => (float[N,1] y) {
      a = MatMul (x, W)
      b = Relu (a)
      y = MatMul (b, V)
    })");
  std::vector<SoftWeight> weights;
  std::vector<Datum> inputs, targets;

  explicit Bench(uint64_t seed = 4) {
    *model.graph->find("W")->constant = test::uniform({5, 2}, -2, 2, DType::kF32, seed);
    *model.graph->find("V")->constant = test::uniform({2, 1}, 0.5, 2, DType::kF32, seed + 1);
    Scheme scheme;
    scheme.symmetric = true;
    for (const Weight& w : find_weights(model).weights) {
      const Matrix values = load(w);
      weights.emplace_back(w, round_to_nearest({values, scheme, nullptr, 1, false, {&kStep, 1}}, fit_mse));
    }
    const Tensor all = test::uniform({kSamples, kInputs}, 0.2, 1);
    for (int64_t i = 0; i < kSamples; ++i) {
      Tensor row(DType::kF32, {1, kInputs});
      std::memcpy(row.mutable_raw(), all.data<float>() + i * kInputs, row.bytes());
      inputs.emplace_back(row);
      targets.push_back(backend->compile(model, {})->run({&inputs.back(), 1})[0]);
    }
  }

  double error(const std::vector<float>& w, const std::vector<float>& v) const {
    double sum = 0;
    for (size_t i = 0; i < inputs.size(); ++i) {
      const auto x = inputs[i].tensor().span<float>();
      double y = 0;
      for (size_t j = 0; j < 2; ++j) {
        double a = 0;
        for (size_t k = 0; k < kInputs; ++k) a += static_cast<double>(x[k]) * static_cast<double>(w[k * 2 + j]);
        y += std::max(0.0, a) * static_cast<double>(v[j]);
      }
      const double off = y - static_cast<double>(targets[i].tensor().data<float>()[0]);
      sum += off * off;
    }
    return sum;
  }

  /// Of the best of all ways to round.
  double best() const {
    const std::vector<float> w = to_floats(*model.graph->find("W")->constant),
                             v = to_floats(*model.graph->find("V")->constant);
    double least = 1e30;
    for (int bits = 0; bits < 1 << 12; ++bits) {
      std::vector<float> all;
      for (const auto* numbers : {&w, &v})
        for (const float x : *numbers)
          all.push_back((std::floor(x / kStep) + static_cast<float>(bits >> all.size() & 1)) * kStep);
      least = std::min(least, error({all.begin(), all.begin() + 10}, {all.begin() + 10, all.end()}));
    }
    return least;
  }
};

}  // namespace

TEST_CASE("the weights of a block are rounded together, and make up for most of what is lost to the nearest") {
  double nearest = 0, best = 0, learned = 0;
  for (const uint64_t seed : {4, 14, 24, 34}) {
    Bench bench(seed);
    const auto now = [&] {
      return bench.error(to_floats(bench.weights[0].values()), to_floats(bench.weights[1].values()));
    };
    nearest += now();
    best += bench.best();
    Block block{clone(bench.model), {&bench.weights[0], &bench.weights[1]}};
    CHECK(learn_block(block, BlockData({bench.inputs}, bench.targets), bench.runner, nullptr).empty());
    learned += now();
  }
  CHECK(nearest > 2 * best);
  CHECK(learned - best < 0.5 * (nearest - best));
}

TEST_CASE("a scale of activations that is much too small is learned") {
  Bench bench;
  Graph& graph = *bench.model.graph;
  Value* b = graph.find("b");
  Value* log = graph.add_constant("log", Tensor::scalar(std::log(0.02F)));
  Node* fake = graph.add_op("FakeQuantize", {b, log},
                            {{"axis", int64_t{0}, {}}, {"low", int64_t{0}, {}}, {"high", int64_t{15}, {}}},
                            graph.next(b->producer), "rounded", 1, "mlopt");
  fake->output(0)->type = b->type;
  graph.set_input(graph.next(fake), 0, fake->output(0));
  Block block{clone(bench.model), {&bench.weights[0]}, {"log"}};
  const BlockData data({bench.inputs}, bench.targets);
  const auto learned = learn_block(block, data, bench.runner, nullptr);
  REQUIRE(learned.contains("log"));
  CHECK(to_floats(learned.at("log"))[0] > std::log(0.03F));
}

TEST_CASE("a block that is exact already stays as it is") {
  Bench bench;
  for (Datum& target : bench.targets) target = Tensor::zeros(DType::kF32, {1, 1});
  Model& model = bench.model;
  *model.graph->find("V")->constant = Tensor::zeros(DType::kF32, {2, 1});
  const Tensor before = bench.weights[0].values();
  Block block{clone(model), {&bench.weights[0]}};
  CHECK(learn_block(block, BlockData({bench.inputs}, bench.targets), bench.runner, nullptr).empty());
  CHECK(to_floats(bench.weights[0].values()) == to_floats(before));
}
