#include <algorithm>
#include <cmath>

#include "tests/support/cases.h"
#include "tests/support/catch.h"
#include "tests/support/cpu.h"

namespace mlopt::test {
namespace {

OpOptions codes(int64_t axis = 0) {
  return {.attrs = {attr("low", -7), attr("high", 8), attr("axis", static_cast<int>(axis)), attr("share", 0.125f)},
          .domain = "mlopt"};
}

OpOptions odd_codes(int64_t axis = 0) {
  return {.attrs = {attr("low", -1), attr("high", 1), attr("odd", 1), attr("axis", static_cast<int>(axis)),
                    attr("share", 0.125f)},
          .domain = "mlopt"};
}

}  // namespace

TEST_CASE("fake quantization to two codes gives what the reference gives") {
  for (const int64_t axis : {-1, 1}) {
    OpOptions options = odd_codes(std::max<int64_t>(axis, 0));
    const Tensor x = uniform({5, 3, 9}, -4, 4);
    const Tensor log = axis < 0 ? tensor({}, {0}) : tensor({3}, {0, std::log(0.5), std::log(2.0)});
    require_as_reference("FakeQuantize", {x, log}, options, 1e-6);
    options.outputs = 2;
    require_as_reference("FakeQuantizeGrad", {x, log, uniform({5, 3, 9}, -1, 1, DType::kF32, 2)}, options, 2e-5);
  }
}

// Steps of powers of two: the quotients of both are then the same numbers, and so are the codes.
TEST_CASE("fake quantization gives what the reference gives, with one step") {
  for (const Dims& dims : {Dims{1}, Dims{7, 3}, Dims{2, 3, 5, 7}, Dims{3, 20000}}) {
    const Tensor x = uniform(dims, -4, 4), log = tensor({}, {-std::log(4.0)});
    require_as_reference("FakeQuantize", {x, log}, codes(), 1e-6);
    OpOptions both = codes();
    both.outputs = 2;
    require_as_reference("FakeQuantizeGrad", {x, log, uniform(dims, -1, 1, DType::kF32, 2)}, both, 2e-5);
  }
}

TEST_CASE("fake quantization gives what the reference gives, with a step for each channel") {
  for (const int64_t axis : {0, 1, 2}) {
    const Dims dims = {5, 3, 9};
    const int64_t channels = dims[static_cast<size_t>(axis)];
    std::vector<double> logs;
    for (int64_t c = 0; c < channels; ++c) logs.push_back(static_cast<double>(-(c % 3)) * std::log(2.0));
    const Tensor x = uniform(dims, -4, 4), log = tensor({channels}, logs);
    require_as_reference("FakeQuantize", {x, log}, codes(axis), 1e-6);
    OpOptions both = codes(axis);
    both.outputs = 2;
    require_as_reference("FakeQuantizeGrad", {x, log, uniform(dims, -1, 1, DType::kF32, 2)}, both, 2e-5);
  }
}

}  // namespace mlopt::test
