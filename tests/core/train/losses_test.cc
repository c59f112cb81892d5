#include "core/train/losses.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "core/onnx/infer.h"
#include "core/onnx/io.h"
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

/// The loss of what `ops` make of the scores "x", as "y".
double loss_behind(const std::string& ops, const char* name, const Dims& dims, const Tensor& labels, int opset = 21) {
  const std::string shape = "double[" + fmt::format("{}", fmt::join(dims, ",")) + "]";
  Model model = parse_text(fmt::format("<ir_version: 8, opset_import: [\"\" : {}]>\nnet ({} x) => ({} y) {{ {} }}",
                                       opset, shape, shape, ops));
  infer(model, standard_types);
  train::Builder build(model, standard_types);
  train::LossArgs args{build, model.graph->outputs()[0]};
  model.graph->add_output(train::find_loss(name)->build(args).loss);
  return reference_outputs(model, {scores().reshaped(dims), labels})[1].data<double>()[0];
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

TEST_CASE("where a network ends in the shares that a loss makes itself, its scores count") {
  const Tensor classes = tensor({2}, {2, 1}, DType::kI64), positions = classes.reshaped({1, 2});
  const Tensor target = tensor({2, 3}, {0, 1, 0.25, 1, 0.5, 0}, DType::kF64);
  for (const char* ops : {"y = Softmax <axis = 1> (x)", "y = Softmax (x)", "s = Softmax (x) y = Identity (s)",
                          "y = LogSoftmax <axis = -1> (x)"})
    CHECK(loss_behind(ops, "cross-entropy", {2, 3}, classes) == Approx(0.535240403).epsilon(1e-9));
  CHECK(loss_behind("y = Softmax (x)", "cross-entropy", {2, 3}, classes, 11) == Approx(0.535240403).epsilon(1e-9));
  CHECK(loss_behind("y = Softmax (x)", "next-token", {1, 2, 3}, positions) == Approx(0.535240403).epsilon(1e-9));
  CHECK(loss_behind("y = Sigmoid (x)", "bce", {2, 3}, target) == Approx(1.140710484).epsilon(1e-9));
}

TEST_CASE("a softmax over anything else than the classes is part of the network") {
  const Tensor classes = tensor({2}, {2, 1}, DType::kI64), positions = classes.reshaped({1, 2});
  const double scored = 0.535240403;
  CHECK(std::abs(loss_behind("y = Softmax <axis = 0> (x)", "cross-entropy", {2, 3}, classes) - scored) > 0.1);
  CHECK(std::abs(loss_behind("y = Softmax (x)", "next-token", {1, 2, 3}, positions, 11) - scored) > 0.1);
  CHECK(loss_behind("y = Softmax (x)", "next-token", {2, 1, 3}, positions.reshaped({2, 1}), 11) ==
        Approx(scored).epsilon(1e-9));
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
