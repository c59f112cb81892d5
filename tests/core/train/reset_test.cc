#include "core/train/reset.h"

#include <algorithm>
#include <cmath>

#include "core/tensor/cast.h"
#include "tests/support/cases.h"
#include "tests/support/catch.h"
#include "tests/support/net.h"
#include "tests/support/rewrite.h"

namespace mlopt::test {
namespace {

struct Spread {
  double low, high, deviation;
};

Spread spread(const Net& net, const char* name) {
  const std::vector<double> all = to_doubles(*const_cast<Net&>(net).graph().find(name)->constant);
  const auto [low, high] = std::minmax_element(all.begin(), all.end());
  double squares = 0;
  for (const double x : all) squares += x * x;
  return {*low, *high, std::sqrt(squares / static_cast<double>(all.size()))};
}

Net picture_net() {
  Net net;
  Graph& graph = net.graph();
  const auto weights = [&](const char* name, Dims dims) { return graph.add_constant(name, uniform(dims, 5, 6)); };
  Value* conv = net.op("Conv", {net.input({1, 8, 5, 5}), weights("conv", {64, 8, 3, 3}), weights("conv.b", {64})});
  Value* norm = net.op("BatchNormalization", {conv, weights("scale", {64}), weights("shift", {64}),
                                              weights("mean", {64}), weights("var", {64})});
  Value* flat = net.op("Flatten", {norm});
  net.output(net.op("Gemm", {flat, weights("fc", {50, 576}), weights("fc.b", {50})}, {attr("transB", 1)}));
  return net;
}

}  // namespace

TEST_CASE("random weights are spread as their layers need it") {
  Net net = picture_net();
  CHECK(train::reset_weights(net.model, 1) == 8);
  const double conv = 1 / std::sqrt(72.0), fc = 1 / std::sqrt(576.0);
  for (const auto& [name, bound] : {std::pair{"conv", conv}, {"conv.b", conv}, {"fc", fc}, {"fc.b", fc}}) {
    INFO(name);
    const Spread s = spread(net, name);
    CHECK(s.low >= -bound);
    CHECK(s.high <= bound);
    CHECK(s.deviation == Approx(bound / std::sqrt(3.0)).epsilon(0.2));
  }
  CHECK(spread(net, "scale").low == 1);
  CHECK(spread(net, "var").high == 1);
  CHECK(spread(net, "shift").deviation == 0);
  CHECK(spread(net, "mean").deviation == 0);
}

TEST_CASE("scales and shifts of joined normalizations begin as 1 and 0, tables at random") {
  Model model =
      fixture(R"(g (int32[2,3] i, int32[2,3] s, float[9,4] W, float[3,4] P, float[2,4] S, float[4] G, float[4] B,
      float[4] H, float[4] C, float[4] D, float[4] K) => (float[2,3,4] y) {
    e, m = com.microsoft.EmbedLayerNormalization (i, s, W, P, S, G, B)
    t = com.microsoft.SkipLayerNormalization (e, e, H, C, D)
    y = com.microsoft.SkipSimplifiedLayerNormalization (t, e, K)
  })");
  model.set_opset("com.microsoft", 1);
  CHECK(train::reset_weights(model, 1) == 9);
  for (const auto& [name, value] : {std::pair{"G", 1.0}, {"B", 0.0}, {"H", 1.0}, {"C", 0.0}, {"D", 0.0}, {"K", 1.0}}) {
    INFO(name);
    CHECK(to_doubles(*model.graph->find(name)->constant) == std::vector<double>(4, value));
  }
  for (const char* table : {"W", "P", "S"}) {
    const std::vector<double> numbers = to_doubles(*model.graph->find(table)->constant);
    CHECK(std::ranges::all_of(numbers, [](double x) { return x != 0 && std::abs(x) < 0.2; }));
  }
}

TEST_CASE("the same seed gives the same weights") {
  Net one = picture_net(), same = picture_net(), other = picture_net();
  train::reset_weights(one.model, 1);
  train::reset_weights(same.model, 1);
  train::reset_weights(other.model, 2);
  const auto fc = [](Net& net) { return to_doubles(*net.graph().find("fc")->constant); };
  CHECK(fc(one) == fc(same));
  CHECK(fc(one) != fc(other));
}

}  // namespace mlopt::test
