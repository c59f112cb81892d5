#include "prune/depth/block_scores.h"

#include <cmath>

#include "core/onnx/infer.h"
#include "core/tensor/cast.h"
#include "core/train/losses.h"
#include "graphopt/pipelines.h"
#include "tests/support/catch.h"
#include "tests/support/cpu.h"
#include "tests/support/memory_data.h"
#include "tests/support/op.h"
#include "tests/support/rewrite.h"
#include "tests/support/thrown.h"

namespace mlopt::test {
namespace {

/// y1 = x + x U, y = y1 + relu(y1) V: the second block adds a tenth of what the first does.
struct Network {
  static constexpr int64_t kSamples = 4, kWidth = 3;
  Model model = fixture(R"(g (float[N,3] x, float[3,3] U, float[3,3] V) => (float[N,3] y) {
      [first] a = MatMul (x, U)
      [one] b = Add (x, a)
      r = Relu (b)
      [second] c = MatMul (r, V)
      [two] y = Add (b, c)
    })");
  Tensor x = uniform({kSamples, kWidth}, -1, 1, DType::kF32, 3);
  std::vector<int64_t> labels{0, 2, 1, 1};
  MemoryData data{x, Tensor::ints(labels)};
  std::unique_ptr<Backend> backend = cpu_with_fallback();
  Runner runner{*backend, [](Model&) {}};
  prune::Means means;
  std::vector<prune::Block> blocks;

  Network() {
    graphopt::fuse(model, pass_context(), {{"constant_to_initializer"}, {}});
    for (const auto& [name, size] : {std::pair{"U", 1.0}, std::pair{"V", 0.1}})
      model.graph->find(name)->constant = uniform({kWidth, kWidth}, -size, size, DType::kF32, 5);
    infer(model, standard_types);
    blocks = prune::find_blocks(model).blocks;
    means.runner = &runner;
    means.data = &data;
    means.passes = pass_context();
    means.loss = train::find_loss("cross-entropy");
  }

  std::vector<double> numbers(const char* name) const { return to_doubles(*model.graph->find(name)->constant); }

  /// What a sample makes of it with the weights of both blocks times these.
  std::vector<std::vector<double>> values(size_t sample, double first, double second) const {
    const std::vector<double> u = numbers("U"), v = numbers("V"), all = to_doubles(x);
    std::vector<double> in(all.begin() + static_cast<std::ptrdiff_t>(3 * sample),
                           all.begin() + static_cast<std::ptrdiff_t>(3 * sample + 3));
    std::vector<double> b = in, y;
    for (size_t i = 0; i < 9; ++i) b[i % 3] += first * in[i / 3] * u[i];
    y = b;
    for (size_t i = 0; i < 9; ++i) y[i % 3] += second * std::max(0.0, b[i / 3]) * v[i];
    return {in, b, y};
  }

  double loss(size_t sample, double first, double second) const {
    const std::vector<double> y = values(sample, first, second)[2];
    return std::log(std::exp(y[0]) + std::exp(y[1]) + std::exp(y[2])) - y[static_cast<size_t>(labels[sample])];
  }

  prune::BlockScores scores(const std::string& method) const {
    return prune::score_blocks(model, blocks, prune::parse_spec(method + ":granularity=layer;sparsity=0.5"), means);
  }
};

double cosine(const std::vector<double>& a, const std::vector<double>& b) {
  double ab = 0, aa = 0, bb = 0;
  for (size_t i = 0; i < a.size(); ++i) ab += a[i] * b[i], aa += a[i] * a[i], bb += b[i] * b[i];
  return ab / std::sqrt(aa * bb);
}

TEST_CASE("influence is how far a block turns what it is given") {
  const Network net;
  REQUIRE(net.blocks.size() == 2);
  double first = 0, second = 0;
  for (size_t n = 0; n < 4; ++n) {
    const auto values = net.values(n, 1, 1);
    first += (1 - cosine(values[0], values[1])) / 4;
    second += (1 - cosine(values[1], values[2])) / 4;
  }
  const prune::BlockScores found = net.scores("influence");
  CHECK(found.samples == 4);
  CHECK(found.scores[0] == Approx(first).epsilon(1e-4));
  CHECK(found.scores[1] == Approx(second).epsilon(1e-4));
  CHECK(found.scores[0] > 5 * found.scores[1]);
}

TEST_CASE("Taylor and Fisher scores of blocks are those of the loss's slopes") {
  const Network net;
  double slopes[2] = {};
  for (size_t n = 0; n < 4; ++n) {
    constexpr double kStep = 1e-5;
    slopes[0] += std::abs(net.loss(n, 1 + kStep, 1) - net.loss(n, 1 - kStep, 1)) / (2 * kStep) / 4;
    slopes[1] += std::abs(net.loss(n, 1, 1 + kStep) - net.loss(n, 1, 1 - kStep)) / (2 * kStep) / 4;
  }
  const prune::BlockScores taylor = net.scores("taylor"), fisher = net.scores("fisher");
  for (size_t b = 0; b < 2; ++b) {
    CHECK(taylor.scores[b] == Approx(slopes[b]).epsilon(1e-3));
    CHECK(fisher.scores[b] > 0);
  }
  CHECK(fisher.scores[0] > fisher.scores[1]);
}

TEST_CASE("magnitudes of blocks are the norms of their weights") {
  const Network net;
  const std::vector<double> u = net.numbers("U");
  double squares = 0, sizes = 0;
  for (const double w : u) squares += w * w, sizes += std::abs(w);
  CHECK(net.scores("magnitude").scores[0] == Approx(std::sqrt(squares)));
  const auto l1 = prune::parse_spec("magnitude:granularity=layer;sparsity=0.5;norm=l1");
  CHECK(prune::score_blocks(net.model, net.blocks, l1, net.means).scores[0] == Approx(sizes));
  CHECK(net.scores("random").scores[0] != net.scores("random").scores[1]);
}

TEST_CASE("influence needs data") {
  Network net;
  net.means.data = nullptr;
  CHECK(thrown_by([&] { net.scores("influence"); }).code == Code::kUsage);
}

}  // namespace
}  // namespace mlopt::test
