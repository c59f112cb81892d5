#include <cmath>

#include "core/autodiff/grad.h"
#include "core/onnx/infer.h"
#include "core/tensor/cast.h"
#include "tests/support/catch.h"
#include "tests/support/gradients.h"
#include "tests/support/net.h"

namespace mlopt::test {
namespace {

const std::vector<Attr> kFourToThree = {attr("low", -4), attr("high", 3), attr("axis", 0)};

/// Gradients of sum(c * FakeQuantize(x, log)).
std::vector<Tensor> gradients(const Tensor& x, const Tensor& log, const Tensor& c, bool weight,
                              const std::vector<Attr>& codes = kFourToThree) {
  Net net;
  Value* in = weight ? net.constant(x) : net.input(x.dims());
  Value* logs = net.constant(log);
  Node* fake = net.graph().add_op("FakeQuantize", {in, logs}, codes, nullptr, "y", 1, "mlopt");
  infer(net.model, *fake, standard_types);
  Value* product = net.op("Mul", {fake->output(0), net.constant(c)});
  infer(net.model, *product->producer, standard_types);
  Node* sum = net.graph().add_op("ReduceSum", {product}, {attr("keepdims", 0)});
  infer(net.model, *sum, standard_types);
  for (Value* grad : add_gradients(net.model, sum->output(0), std::vector{in, logs}, standard_types)) net.output(grad);
  return reference_outputs(net.model, weight ? std::vector<Datum>{} : std::vector<Datum>{x});
}

}  // namespace

TEST_CASE("the gradient of fake quantization is straight through, and that of LSQ for the steps") {
  const Dims dims = {3, 8};
  const Tensor x = uniform(dims, -3, 3, DType::kF32, 4), c = uniform(dims, -1, 1, DType::kF32, 5);
  for (const bool weight : {true, false}) {
    const std::vector<double> steps = weight ? std::vector<double>{0.3, 0.5, 0.7} : std::vector<double>{0.4};
    std::vector<double> logs, dx, ds(steps.size());
    for (const double s : steps) logs.push_back(std::log(s));
    for (int64_t i = 0; i < x.size(); ++i) {
      const size_t k = weight ? static_cast<size_t>(i / 8) : 0;
      const double v = number_at(x, i) / steps[k], dy = number_at(c, i);
      const bool inside = v >= -4 && v <= 3;
      dx.push_back(inside ? dy : 0);
      // A step is shared by the 8 weights of a row, or by the 8 numbers of a sample.
      const double change = inside ? std::nearbyint(v) - v : v < 0 ? -4 : 3;
      ds[k] += dy * change / std::sqrt(8.0 * 3.0) / steps[k];
    }
    const Dims one = weight ? Dims{3} : Dims{};
    const std::vector<Tensor> found = gradients(x, tensor(one, logs), c, weight);
    REQUIRE(found.size() == 2);
    require_close(found[0], tensor(dims, dx));
    require_close(found[1], tensor(one, ds), 1e-5);
  }
}

TEST_CASE("binary weights pass the gradient up to one step beyond their codes") {
  const Tensor x = tensor({6}, {-1.1, -0.9, -0.2, 0.3, 0.8, 1.3}), c = tensor({6}, {1, 2, 3, 4, 5, 6});
  const std::vector<Attr> codes = {attr("low", -1), attr("high", 1), attr("odd", 1)};
  const double step = 0.5;
  const std::vector<Tensor> found = gradients(x, tensor({}, {std::log(step)}), c, true, codes);
  require_close(found[0], tensor({6}, {0, 2, 3, 4, 5, 0}));
  // Codes less x / step, but where x / step is beyond 2.
  const double change = -1 + 2 * (-1 + 1.8) + 3 * (-1 + 0.4) + 4 * (1 - 0.6) + 5 * (1 - 1.6) + 6;
  require_close(found[1], tensor({}, {change / std::sqrt(6.0) / step}), 1e-5);
}

}  // namespace mlopt::test
