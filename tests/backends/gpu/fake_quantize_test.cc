#include <cmath>

#include "tests/support/cases.h"
#include "tests/support/catch.h"
#include "tests/support/gpu.h"

namespace mlopt::test {
namespace {

OpOptions codes(int64_t axis, int outputs) {
  return {.attrs = {attr("low", -7), attr("high", 8), attr("axis", static_cast<int>(axis)), attr("share", 0.125f)},
          .domain = "mlopt",
          .outputs = outputs};
}

void check(const Dims& dims, const Tensor& logs, int64_t axis) {
  INFO(to_string(dims) << " along " << axis);
  const Tensor x = uniform(dims, -4, 4);
  require_on_gpu("FakeQuantize", {x, logs}, codes(axis, 1), 1e-6);
  require_on_gpu("FakeQuantizeGrad", {x, logs, uniform(dims, -1, 1, DType::kF32, 2)}, codes(axis, 2), 2e-5);
}

}  // namespace

TEST_CASE("fake quantization to odd codes on a GPU") {
  const Tensor x = uniform({5, 3, 9}, -4, 4), logs = tensor({3}, {0, std::log(0.5), std::log(2.0)});
  OpOptions odd = codes(1, 1);
  odd.attrs = {attr("low", -1), attr("high", 1), attr("odd", 1), attr("axis", 1), attr("share", 0.125f)};
  require_on_gpu("FakeQuantize", {x, logs}, odd, 1e-6);
  odd.outputs = 2;
  require_on_gpu("FakeQuantizeGrad", {x, logs, uniform({5, 3, 9}, -1, 1, DType::kF32, 2)}, odd, 2e-5);
}

// Steps of about powers of two: the quotients of both are then nearly the same numbers, and so are the codes.
TEST_CASE("fake quantization on a GPU, with one step and with one for each channel") {
  for (const Dims& dims : {Dims{1}, Dims{7, 3}, Dims{2, 3, 5, 7}, Dims{3, 9000}})
    check(dims, tensor({}, {-std::log(4.0)}), 0);
  for (const int64_t axis : {0, 1, 2}) {
    const Dims dims = {5, 3, 9};
    std::vector<double> logs;
    for (int64_t c = 0; c < dims[static_cast<size_t>(axis)]; ++c)
      logs.push_back(static_cast<double>(-(c % 3)) * std::log(2.0));
    check(dims, tensor({dims[static_cast<size_t>(axis)]}, logs), axis);
  }
}

}  // namespace mlopt::test
