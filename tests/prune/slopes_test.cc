#include "prune/slopes.h"

#include <cmath>

#include "core/onnx/infer.h"
#include "core/tensor/cast.h"
#include "core/train/losses.h"
#include "prune/criteria.h"
#include "prune/structure/loss_score.h"
#include "prune/structure/propagate.h"
#include "tests/support/catch.h"
#include "tests/support/cpu.h"
#include "tests/support/memory_data.h"
#include "tests/support/net.h"
#include "tests/support/thrown.h"

namespace mlopt::test {
namespace {

constexpr int64_t kSamples = 5, kInputs = 4, kNeurons = 3, kClasses = 2;

/// x [N, 4] -> W [4, 3], ReLU -> V [2, 3] transposed -> 2 classes.
Net network() {
  Net net;
  Graph& graph = net.graph();
  Value* x = graph.add_input("x", Type::tensor(DType::kF32, SymDims{Dim::symbol("N"), Dim(kInputs)}));
  Value* w = graph.add_constant("w", uniform({kInputs, kNeurons}, -1, 1, DType::kF32, 1));
  Value* v = graph.add_constant("v", uniform({kClasses, kNeurons}, -1, 1, DType::kF32, 2));
  net.output(net.op("Gemm", {net.op("Relu", {net.op("MatMul", {x, w})}), v}, {{"transB", int64_t{1}, {}}}));
  infer(net.model, standard_types);
  return net;
}

MemoryData labelled() { return {uniform({kSamples, kInputs}, -1, 1, DType::kF32, 3), Tensor::ints({0, 1, 1, 0, 1})}; }

/// Cross-entropy of a sample.
double loss_of(const std::vector<double>& w, const std::vector<double>& v, const double* x, int64_t label) {
  double scores[kClasses] = {};
  for (size_t h = 0; h < kNeurons; ++h) {
    double neuron = 0;
    for (size_t i = 0; i < kInputs; ++i) neuron += x[i] * w[i * kNeurons + h];
    for (size_t c = 0; c < kClasses; ++c) scores[c] += std::max(0.0, neuron) * v[c * kNeurons + h];
  }
  return std::log(std::exp(scores[0]) + std::exp(scores[1])) - scores[label];
}

struct Numbers {
  std::vector<double> w, v, x = to_doubles(uniform({kSamples, kInputs}, -1, 1, DType::kF32, 3));
  std::vector<int64_t> labels = {0, 1, 1, 0, 1};

  /// dL/dw_i of a sample by central differences.
  double slope(std::vector<double>& of, size_t i, size_t sample) {
    constexpr double kStep = 1e-5;
    const double before = of[i];
    const auto loss = [&](double at) {
      of[i] = at;
      return loss_of(w, v, x.data() + sample * kInputs, labels[sample]);
    };
    const double slope = (loss(before + kStep) - loss(before - kStep)) / (2 * kStep);
    of[i] = before;
    return slope;
  }
};

Numbers numbers_of(const Net& net) {
  Numbers n;
  n.w = to_doubles(*net.model.graph->find("w")->constant);
  n.v = to_doubles(*net.model.graph->find("v")->constant);
  return n;
}

struct Tools {
  std::unique_ptr<Backend> backend = cpu_with_fallback();
  Runner runner{*backend, [](Model&) {}};
  MemoryData data = labelled();
  prune::Means means;
  Tools() {
    means.runner = &runner;
    means.data = &data;
    means.loss = train::find_loss("cross-entropy");
  }
};

}  // namespace

TEST_CASE("Taylor and Fisher scores are those of the loss's slopes at each sample") {
  const Net net = network();
  const Tools tools;
  const std::vector<Weight> weights = find_weights(net.model, {}).weights;
  const auto slopes = prune::slopes_of(net.model, weights, tools.means);
  Numbers n = numbers_of(net);
  for (size_t k = 0; k < weights.size(); ++k) {
    std::vector<double>& of = weights[k].name() == "w" ? n.w : n.v;
    const prune::Evidence evidence{.weight = &weights[k], .slopes = &slopes[k]};
    const Matrix taylor = prune::taylor(evidence), fisher = prune::fisher(evidence);
    for (int64_t r = 0; r < weights[k].rows; ++r)
      for (int64_t c = 0; c < weights[k].columns; ++c) {
        const auto i = static_cast<size_t>(weights[k].row_at[static_cast<size_t>(r)] +
                                           weights[k].column_at[static_cast<size_t>(c)]);
        double sizes = 0, squares = 0;
        for (size_t s = 0; s < kSamples; ++s) {
          const double product = of[i] * n.slope(of, i, s);
          sizes += std::abs(product) / kSamples;
          squares += product * product / kSamples;
        }
        CHECK(static_cast<double>(taylor.at(r, c)) == Approx(sizes).epsilon(1e-4).margin(1e-7));
        CHECK(static_cast<double>(fisher.at(r, c)) == Approx(squares).epsilon(1e-4).margin(1e-7));
      }
  }
}

TEST_CASE("Taylor scores of channels are what the loss does when the channel grows") {
  const Net net = network();
  const Tools tools;
  const prune::Relations all = prune::relate_axes(net.model, prune::SplitBy::kInner);
  const auto groups = prune::find_groups(all).groups;
  REQUIRE(groups.size() == 1);
  Numbers n = numbers_of(net);
  for (const bool squared : {false, true}) {
    const auto [axes, samples] = prune::loss_scores(net.model, all, groups, squared, tools.means);
    CHECK(samples == kSamples);
    const std::vector<double> scores = prune::score_channels(groups, axes)[0];
    for (size_t h = 0; h < kNeurons; ++h) {
      double expected = 0;
      for (size_t s = 0; s < kSamples; ++s) {
        double in = 0, out = 0;
        for (size_t i = 0; i < kInputs; ++i) {
          const double product = n.w[i * kNeurons + h] * n.slope(n.w, i * kNeurons + h, s);
          in += squared ? product * product : product;
        }
        for (size_t c = 0; c < kClasses; ++c) {
          const double product = n.v[c * kNeurons + h] * n.slope(n.v, c * kNeurons + h, s);
          out += squared ? product * product : product;
        }
        expected += (std::abs(in) + std::abs(out)) / 2 / kSamples;
      }
      CHECK(scores[h] == Approx(expected).epsilon(1e-4).margin(1e-7));
    }
  }
}

TEST_CASE("gradients need labels") {
  const Net net = network();
  Tools tools;
  const MemoryData unlabelled{uniform({kSamples, kInputs}, -1, 1), std::nullopt};
  tools.means.data = &unlabelled;
  const std::vector<Weight> weights = find_weights(net.model, {}).weights;
  const Error error = thrown_by([&] { prune::slopes_of(net.model, weights, tools.means); });
  CHECK(error.code == Code::kUsage);
  CHECK(error.message.find("labels") != std::string::npos);
}

}  // namespace mlopt::test
