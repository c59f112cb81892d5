#include "prune/statistics.h"

#include "core/calib/model_inputs.h"
#include "core/data/random.h"
#include "core/onnx/infer.h"
#include "core/tensor/cast.h"
#include "prune/moments.h"
#include "tests/support/catch.h"
#include "tests/support/cpu.h"
#include "tests/support/rewrite.h"

namespace mlopt::test {
namespace {

/// Two convolutions, the first normalized, the second as if its normalization were folded, and a layer.
const char* const kModel = R"(g (float[N,3,6,6] x, float[8,3,3,3] U, float[8] A, float[8] G, float[8] E,
      float[8] M, float[8] S, float[6,8,1,1] V, float[6] B, float[4,96] W, float[4] C) => (float[N,4] y) {
    a = Conv (x, U, A)
    n = BatchNormalization (a, G, E, M, S)
    r = Relu (n)
    b = Conv (r, V, B)
    s = Relu (b)
    f = Flatten (s)
    y = Gemm <transB = 1> (f, W, C)
  })";

struct Tools {
  Model source = fixture(kModel);
  std::unique_ptr<Dataset> data;
  std::unique_ptr<Backend> backend = cpu_with_fallback();
  Runner runner{*backend, [](Model&) {}};
  prune::Means means;

  Tools() {
    infer(source, standard_types);
    data = random_dataset(model_inputs(source), {.count = 24, .seed = 3});
    means.runner = &runner;
    means.data = data.get();
    const prune::Moments trained = prune::moments_of(source, {"a"}, means)[0];
    const auto set = [&](const char* name, const std::vector<double>& numbers) {
      source.graph->find(name)->constant = cast(Tensor::of<double>({8}, numbers), DType::kF32);
    };
    set("M", trained.means);
    set("S", trained.variances);
  }

  /// Every second number of the weights as 0.
  Model pruned() const {
    Model model = clone(source);
    for (const char* name : {"U", "V", "W"}) {
      Tensor& w = *model.graph->find(name)->constant;
      for (int64_t i = 0; i < w.size(); i += 2) w.mutable_data<float>()[i] = 0;
    }
    return model;
  }
};

double farthest(const std::vector<double>& a, const std::vector<double>& b) {
  double most = 0;
  for (size_t i = 0; i < a.size(); ++i) most = std::max(most, std::abs(a[i] - b[i]));
  return most;
}

}  // namespace

TEST_CASE(
    "normalizations get the statistics of what they are given, and layers what they gave on average and how much it "
    "varied") {
  const Tools t;
  Model model = t.pruned();
  const std::vector<std::string> seen = {"a", "b", "y"};
  const auto before = prune::moments_of(t.source, seen, t.means), then = prune::moments_of(model, seen, t.means);
  CHECK(farthest(before[1].means, then[1].means) > 0.01);
  CHECK(farthest(before[2].means, then[2].means) > 0.01);
  CHECK(prune::correct_statistics(model, t.source, t.means) == 3);
  const auto now = prune::moments_of(model, seen, t.means);
  // Sums of 864 and of 24 floats of size 1.
  CHECK(farthest(to_doubles(*model.graph->find("M")->constant), now[0].means) < 1e-5);
  CHECK(farthest(to_doubles(*model.graph->find("S")->constant), now[0].variances) < 1e-5);
  for (const size_t i : {1, 2}) {
    CHECK(farthest(before[i].means, now[i].means) < 1e-4);
    for (size_t c = 0; c < now[i].means.size(); ++c)
      CHECK(now[i].variances[c] == Approx(before[i].variances[c]).epsilon(1e-4));
  }
  for (const char* name : {"V", "W"}) {
    const std::vector<float> w = to_floats(*model.graph->find(name)->constant);
    for (size_t i = 0; i < w.size(); i += 2) CHECK(w[i] == 0);
  }
  // The bias in front of the normalization stays: the normalization takes it away again.
  CHECK(to_doubles(*model.graph->find("A")->constant) == to_doubles(*t.source.graph->find("A")->constant));
}

TEST_CASE("moments are those of the numbers") {
  const Tools t;
  const auto moments = prune::moments_of(t.source, {"a"}, t.means);
  std::vector<std::vector<double>> numbers(8);
  const int64_t samples = prune::each_value(t.source, {"a"}, t.means, [&](size_t, const Tensor& tensor) {
    const std::vector<double> all = to_doubles(tensor);
    for (size_t i = 0; i < all.size(); ++i) numbers[i / 16 % 8].push_back(all[i]);  // 4x4 places
  });
  CHECK(samples == 24);
  for (size_t c = 0; c < 8; ++c) {
    REQUIRE(numbers[c].size() == 24 * 16);
    double mean = 0, variance = 0;
    for (const double x : numbers[c]) mean += x / 384;
    for (const double x : numbers[c]) variance += (x - mean) * (x - mean) / 384;
    CHECK(moments[0].means[c] == Approx(mean).margin(1e-9));
    CHECK(moments[0].variances[c] == Approx(variance).epsilon(1e-9));
  }
}

TEST_CASE("a bias that two layers share stays") {
  Tools t;
  Model model = fixture(R"(g (float[N,4] x, float[4,4] W, float[4,4] V, float[4] C) => (float[N,4] y) {
    a = Gemm (x, W, C)
    y = Gemm (a, V, C)
  })");
  infer(model, standard_types);
  const auto data = random_dataset(model_inputs(model), {.count = 4, .seed = 3});
  t.means.data = data.get();
  CHECK(prune::correct_statistics(model, clone(model), t.means) == 0);
}

}  // namespace mlopt::test
