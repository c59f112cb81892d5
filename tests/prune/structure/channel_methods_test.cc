#include "prune/structure/channel_methods.h"

#include <cmath>
#include <functional>

#include "core/calib/model_inputs.h"
#include "core/data/random.h"
#include "core/onnx/infer.h"
#include "core/tensor/cast.h"
#include "prune/moments.h"
#include "prune/structure/propagate.h"
#include "tests/support/catch.h"
#include "tests/support/cpu.h"
#include "tests/support/rewrite.h"

namespace mlopt::test {
namespace {

struct Network {
  Model model = fixture(R"(g (float[N,3,6,6] x, float[5,3,3,3] U, float[5] A, float[5] G, float[5] E, float[5] M,
        float[5] S, float[4,5,1,1] V) => (float[N,4,4,4] y) {
      a = Conv (x, U, A)
      n = BatchNormalization (a, G, E, M, S)
      r = Relu (n)
      y = Conv (r, V)
    })");
  prune::Relations all;
  std::vector<prune::Group> groups;
  std::unique_ptr<Dataset> data;
  std::unique_ptr<Backend> backend = cpu_with_fallback();
  Runner runner{*backend, [](Model&) {}};
  prune::Means means;

  Network() {
    set("G", {-2, 0.5, 1, -0.25, 3});
    set("S", {1, 1, 1, 1, 1});
    set("E", {0, 0.5, -2, 1, -100});
    infer(model, standard_types);
    all = prune::relate_axes(model, prune::SplitBy::kInner);
    groups = prune::find_groups(all).groups;
    data = random_dataset(model_inputs(model), {.count = 6, .seed = 3});
    means.runner = &runner;
    means.data = data.get();
  }

  void set(const char* name, const std::vector<double>& numbers) {
    model.graph->find(name)->constant =
        cast(Tensor::of<double>({static_cast<int64_t>(numbers.size())}, numbers), DType::kF32);
  }

  std::vector<double> scores(const char* method) const {
    const auto axes = prune::find_channel_method(method)->score({model, all, groups, means});
    return prune::score_channels(groups, axes).at(0);
  }

  /// The mean of f(x) over the places of each channel behind the activation, summed over samples.
  std::vector<double> expected(const std::function<double(double)>& f) const {
    std::vector<double> sums(5);
    prune::each_value(model, {"r"}, means, [&](size_t, const Tensor& tensor) {
      const std::vector<double> all_numbers = to_doubles(tensor);
      for (size_t i = 0; i < all_numbers.size(); ++i) sums[i / 16 % 5] += f(all_numbers[i]) / 16;
    });
    return sums;
  }
};

void check_equal(const std::vector<double>& a, const std::vector<double>& b) {
  REQUIRE(a.size() == b.size());
  for (size_t i = 0; i < a.size(); ++i) CHECK(a[i] == Approx(b[i]).margin(1e-9));
}

}  // namespace

TEST_CASE("channels are scored by what they are behind the activation") {
  const Network net;
  REQUIRE(net.groups.size() == 1);
  check_equal(net.scores("activation"), net.expected([](double x) { return std::abs(x); }));
  const std::vector<double> active = net.scores("apoz");
  check_equal(active, net.expected([](double x) { return x == 0 ? 0.0 : 1.0; }));
  CHECK(active[4] == 0);  // shifted far below zero
  CHECK(active[0] > 0);
}

TEST_CASE("channels are scored by the scale of their normalization") {
  check_equal(Network().scores("bn-scale"), {2, 0.5, 1, 0.25, 3});
}

TEST_CASE("channels are scored by how far their filters are from the others") {
  const Network net;
  const std::vector<double> u = to_doubles(*net.model.graph->find("U")->constant);
  std::vector<double> expected(5);
  for (size_t i = 0; i < 5; ++i)
    for (size_t j = 0; j < 5; ++j) {
      double squares = 0;
      for (size_t k = 0; k < 27; ++k) squares += (u[27 * i + k] - u[27 * j + k]) * (u[27 * i + k] - u[27 * j + k]);
      expected[i] += std::sqrt(squares);
    }
  check_equal(net.scores("geometric-median"), expected);
}

TEST_CASE("a method for weights is none for channels") {
  CHECK(prune::find_channel_method("wanda") == nullptr);
  CHECK(prune::find_channel_method("apoz")->data);
}

}  // namespace mlopt::test
