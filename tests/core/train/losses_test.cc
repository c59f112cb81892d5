#include "core/train/losses.h"

#include <cmath>

#include "core/onnx/infer.h"
#include "tests/support/catch.h"
#include "tests/support/gradients.h"
#include "tests/support/thrown.h"

namespace mlopt::test {
namespace {

double loss_of(const char* name, const Tensor& output, const Tensor& labels, double smoothing = 0, bool mixed = false) {
  Model model;
  model.ir_version = 10;
  model.set_opset("", 21);
  Value* x = model.graph->add_input("x", Type::tensor(output.dtype(), output.dims()));
  train::Builder build(model, standard_types);
  train::LossArgs args{build, x, smoothing, mixed};
  const train::LossGraph loss = train::find_loss(name)->build(args);
  REQUIRE(loss.labels->type.static_dims() == labels.dims());
  model.graph->add_output(loss.loss);
  const Tensor value = reference_outputs(model, {output, labels})[0];
  REQUIRE(value.dims().empty());
  return value.data<double>()[0];
}

const Tensor& scores() {
  static const Tensor kScores = tensor({2, 3}, {1, -2, 0.5, 0, 3, -1}, DType::kF64);
  return kScores;
}

}  // namespace

TEST_CASE("losses are PyTorch's") {
  const Tensor classes = tensor({2}, {2, 1}, DType::kI64);
  const Tensor target = tensor({2, 3}, {0, 1, 0.25, 1, 0.5, 0}, DType::kF64);
  CHECK(loss_of("cross-entropy", scores(), classes) == Approx(0.535240403).epsilon(1e-9));
  CHECK(loss_of("cross-entropy", scores(), classes, 0.1) == Approx(0.685240403).epsilon(1e-9));
  CHECK(loss_of("next-token", scores().reshaped({1, 2, 3}), classes.reshaped({1, 2})) ==
        Approx(0.535240403).epsilon(1e-9));
  CHECK(loss_of("mse", scores(), target) == Approx(3.052083333).epsilon(1e-9));
  CHECK(loss_of("l1", scores(), target) == Approx(1.458333333).epsilon(1e-9));
  CHECK(loss_of("bce", scores(), target) == Approx(1.140710484).epsilon(1e-9));
  CHECK(train::losses().size() == 5);
}

TEST_CASE("the loss of mixed labels is the mixed loss of labels") {
  const std::vector<int64_t> own = {2, 1}, other = {0, 1};
  const std::vector<double> share = {0.3, 0.85};
  const auto s = scores().span<double>();
  std::vector<double> labels(6);
  for (size_t n = 0; n < 2; ++n) {
    labels[3 * n + static_cast<size_t>(own[n])] += share[n];
    labels[3 * n + static_cast<size_t>(other[n])] += 1 - share[n];
  }
  for (const double smoothing : {0.0, 0.1}) {
    double expected = 0;
    for (size_t n = 0; n < 2; ++n) {
      double sum = 0, all = 0;
      for (size_t c = 0; c < 3; ++c) sum += std::exp(s[3 * n + c]);
      for (size_t c = 0; c < 3; ++c) all += (std::log(sum) - s[3 * n + c]) / 3;
      const auto cross_entropy = [&](int64_t y) {
        return (1 - smoothing) * (std::log(sum) - s[3 * n + static_cast<size_t>(y)]) + smoothing * all;
      };
      expected += (share[n] * cross_entropy(own[n]) + (1 - share[n]) * cross_entropy(other[n])) / 2;
    }
    CHECK(loss_of("cross-entropy", scores(), tensor({2, 3}, labels, DType::kF64), smoothing, true) ==
          Approx(expected).epsilon(1e-12));
  }
  const Tensor classes = tensor({1, 2}, {2, 1}, DType::kI64);
  CHECK(thrown_by([&] { loss_of("next-token", scores().reshaped({1, 2, 3}), classes, 0, true); }).code == Code::kUsage);
}

TEST_CASE("large scores have finite losses") {
  const Tensor large = tensor({1, 2}, {1000, -1000}, DType::kF64);
  CHECK(loss_of("cross-entropy", large, tensor({1}, {1}, DType::kI64)) == Approx(2000));
  CHECK(loss_of("bce", large, tensor({1, 2}, {0, 1}, DType::kF64)) == Approx(1000));
}

TEST_CASE("an output of another rank is refused") {
  const Tensor flat = tensor({3}, {1, 2, 3}, DType::kF64);
  CHECK(says(thrown_by([&] { loss_of("cross-entropy", flat, flat); }), "needs class scores [batch, classes]"));
  CHECK(says(thrown_by([&] { loss_of("next-token", scores(), flat); }), "needs scores [batch, positions, tokens]"));
  CHECK(train::find_loss("hinge") == nullptr);
}

}  // namespace mlopt::test
