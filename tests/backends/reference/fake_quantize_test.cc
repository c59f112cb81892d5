#include <cmath>

#include "core/tensor/cast.h"
#include "tests/support/cases.h"
#include "tests/support/catch.h"

namespace mlopt::test {
namespace {

OpOptions codes(int64_t low, int64_t high, int64_t axis = 0) {
  return {.attrs = {attr("low", static_cast<int>(low)), attr("high", static_cast<int>(high)),
                    attr("axis", static_cast<int>(axis))},
          .domain = "mlopt"};
}

Tensor logs(const Dims& dims, const std::vector<double>& steps) {
  std::vector<double> values;
  for (const double s : steps) values.push_back(std::log(s));
  return tensor(dims, values);
}

}  // namespace

TEST_CASE("fake quantization gives what QuantizeLinear and DequantizeLinear give") {
  const Tensor x = uniform({3, 4, 5}, -2, 2);
  const Tensor scale = tensor({}, {0.0125}), zero = tensor({}, {100}, DType::kU8);
  const Tensor q = run_op("QuantizeLinear", {x, scale, zero});
  require_close(run_op("FakeQuantize", {x, logs({}, {0.0125})}, codes(-100, 155)),
                run_op("DequantizeLinear", {q, scale, zero}));
}

TEST_CASE("fake quantization has a step for each index of an axis") {
  const Tensor x = uniform({2, 3, 4}, -2, 2);
  const Tensor scale = tensor({3}, {0.5, 0.25, 0.1}), zero = tensor({3}, {0, 0, 0}, DType::kI8);
  const OpOptions axis = {.attrs = {attr("axis", 1)}};
  const Tensor q = run_op("QuantizeLinear", {x, scale, zero}, axis);
  require_close(run_op("FakeQuantize", {x, logs({3}, {0.5, 0.25, 0.1})}, codes(-128, 127, 1)),
                run_op("DequantizeLinear", {q, scale, zero}, axis));
}

TEST_CASE("fake quantization clamps to its codes") {
  require_close(run_op("FakeQuantize", {tensor({5}, {-9, -1.6, 0.5, 1.5, 9}), logs({}, {1})}, codes(-2, 3)),
                tensor({5}, {-2, -2, 0, 2, 3}));
}

TEST_CASE("odd codes leave zero out: numbers become the odd multiple of the step that is nearest") {
  OpOptions odd = codes(-3, 3);
  odd.attrs.push_back(attr("odd", 1));
  require_close(run_op("FakeQuantize", {tensor({8}, {-9, -2.1, -1.9, -0.1, 0, 0.1, 1.9, 2.1}), logs({}, {1})}, odd),
                tensor({8}, {-3, -3, -1, -1, 1, 1, 1, 3}));
}

TEST_CASE("steps that do not fit the tensor are an error") {
  CHECK(error_of("FakeQuantize", {uniform({2, 3}, -1, 1), logs({2}, {1, 1})}, codes(-2, 3, 1)).find("axis") !=
        std::string::npos);
}

}  // namespace mlopt::test
