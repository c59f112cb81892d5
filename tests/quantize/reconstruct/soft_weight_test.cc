#include "quantize/reconstruct/soft_weight.h"

#include <cmath>

#include "backends/reference/backend.h"
#include "core/tensor/cast.h"
#include "core/tensor/compare.h"
#include "quantize/methods.h"
#include "tests/support/catch.h"
#include "tests/support/op.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using namespace mlopt::quantize;

namespace {

/// Weights between the values of an alphabet of steps of 1, whose codes stand for -4 to 3.
struct Bench {
  Model model;
  std::vector<float> numbers;

  explicit Bench(const char* net, int64_t opset = 21) : model(test::fixture(net, opset)) {
    Tensor& w = *model.graph->find("W")->constant;
    w = test::uniform(w.dims(), -4.4, 3.4);
    numbers = to_floats(w);
  }
  SoftWeight soft() const {
    Scheme scheme;
    scheme.bits = 3;
    scheme.symmetric = true;
    const Weight weight = find_weights(model).weights.at(0);
    const float step = 1;
    const Matrix values = load(weight);
    return {weight, round_to_nearest({values, scheme, nullptr, weight.groups, false, {&step, 1}}, fit_mse)};
  }
  Tensor run(const Model& of) const {
    const std::vector<Datum> inputs = {test::uniform({2, 6, 5, 5}, -1, 1)};
    return reference_backend()->compile(of, {})->run(inputs)[0].tensor();
  }
};

constexpr const char* kConv =
    "g (float[N,6,5,5] x, float[8,3,3,3] W) => (float[N,8,3,3] y) { y = Conv <group = 2> (x, W) }";

}  // namespace

TEST_CASE("a soft weight begins as the numbers are, and hardens to the nearest") {
  for (const int64_t opset : {9, 21}) {
    const Bench bench(kConv, opset);
    SoftWeight soft = bench.soft();
    const std::vector<float> nearest = to_floats(soft.values());
    for (size_t i = 0; i < nearest.size(); ++i) {
      const float clipped = std::min(3.0F, std::max(-4.0F, bench.numbers[i]));
      CHECK(std::fabs(nearest[i] - clipped) <= 0.501F);
      CHECK(nearest[i] == std::nearbyint(nearest[i]));
    }
    Model part = clone(bench.model), plain = clone(bench.model);
    Tensor& w = *plain.graph->find("W")->constant;
    for (int64_t i = 0; i < w.size(); ++i)
      w.mutable_data<float>()[i] = std::min(3.0F, std::max(-4.0F, w.data<float>()[i]));
    const Value* share = soft.soften(part, "learned");
    CHECK(share->type.static_dims() == w.dims());
    // Shares stay a hundredth from both ends, of the 27 numbers that an output sums up.
    CHECK(difference(bench.run(part), bench.run(plain)).max_abs < 0.01 * 27 + 1e-5);
    const Tensor learned = *part.graph->find("learned")->constant;
    soft.harden(learned);
    CHECK(to_floats(soft.values()) == nearest);
  }
}

TEST_CASE("what was pruned stays zero whatever is learned") {
  Bench bench(kConv);
  Tensor& w = *bench.model.graph->find("W")->constant;
  for (int64_t i = 0; i < w.size(); i += 2) w.mutable_data<float>()[i] = 0;
  for (const float side : {-3.0F, 3.0F}) {
    SoftWeight soft = bench.soft();
    soft.harden(Tensor::of<float>({8, 3, 3, 3}, std::vector<float>(216, side)));
    const std::vector<float> hard = to_floats(soft.values());
    for (size_t i = 0; i < hard.size(); i += 2) CHECK(hard[i] == 0);
  }
}

TEST_CASE("what was learned decides for the value below or above") {
  const Bench bench(kConv);
  SoftWeight soft = bench.soft();
  for (const float side : {-3.0F, 3.0F}) {
    soft.harden(Tensor::of<float>({8, 3, 3, 3}, std::vector<float>(216, side)));
    const std::vector<float> hard = to_floats(soft.values());
    for (size_t i = 0; i < hard.size(); ++i) {
      const float x = std::min(2.999F, std::max(-4.0F, bench.numbers[i]));
      CHECK(hard[i] == (side > 0 ? std::floor(x) + 1 : std::floor(x)));
    }
  }
}
