#include <cmath>

#include "tests/support/catch.h"
#include "tests/support/cpu.h"

namespace mlopt::test {
namespace {

Tensor scales(std::vector<double> values) {
  const auto n = static_cast<int64_t>(values.size());
  return tensor(n == 1 ? Dims{} : Dims{n}, values);
}

}  // namespace

TEST_CASE("QuantizeLinear rounds and saturates as the reference does") {
  const Tensor x = uniform({3, 5, 7}, -20, 20);
  for (const DType type : {DType::kU8, DType::kI8}) {
    const double zero = type == DType::kU8 ? 117 : -3;
    require_as_reference("QuantizeLinear", {x, scales({0.1}), tensor({}, {zero}, type)}, {}, 0, 1);
    for (const int64_t axis : {0, 1, -1}) {
      const auto length = x.dims()[static_cast<size_t>(axis < 0 ? 2 : axis)];
      const Tensor scale = uniform({length}, 0.05, 0.3), zeros = uniform({length}, 0, 100, type);
      require_as_reference("QuantizeLinear", {x, scale, zeros}, {.attrs = {{"axis", axis, ""}}}, 0, 1);
    }
  }
  require_as_reference("QuantizeLinear", {x, scales({0.1})}, {}, 0, 1);
  // Halves go to the even neighbour, whatever the zero point.
  const Tensor halves = tensor({6}, {0.5, 1.5, -0.5, -1.5, 2.5, 1e9});
  require_as_reference("QuantizeLinear", {halves, scales({1}), tensor({}, {3}, DType::kU8)}, {}, 0);
  const Tensor far = tensor({3}, {NAN, INFINITY, -INFINITY});
  for (const DType type : {DType::kU8, DType::kI8})
    require_as_reference("QuantizeLinear", {far, scales({1}), tensor({}, {3}, type)}, {}, 0);
}

TEST_CASE("DequantizeLinear gives what the reference gives") {
  for (const DType type : {DType::kU8, DType::kI8}) {
    const Tensor x = uniform({3, 5, 7}, type == DType::kU8 ? 0 : -128, type == DType::kU8 ? 255 : 127, type);
    require_as_reference("DequantizeLinear", {x, scales({0.1}), tensor({}, {7}, type)}, {}, 1e-6);
    require_as_reference("DequantizeLinear", {x, scales({0.1})}, {}, 1e-6);
    require_as_reference("DequantizeLinear", {x, uniform({5}, 0.1, 1), uniform({5}, 0, 100, type)}, {}, 1e-6);
  }
}

TEST_CASE("blocks of the last axis have scales of their own") {
  for (const DType type : {DType::kU8, DType::kI8}) {
    const Tensor x = uniform({3, 5, 24}, 0, 120, type), scale = uniform({3, 5, 3}, 0.1, 1);
    const OpOptions blocks{.attrs = {{"axis", int64_t{-1}, ""}, {"block_size", int64_t{8}, ""}}};
    require_as_reference("DequantizeLinear", {x, scale, uniform({3, 5, 3}, 0, 100, type)}, blocks, 1e-6);
    require_as_reference("DequantizeLinear", {x, scale}, blocks, 1e-6);
    require_as_reference("QuantizeLinear", {uniform({3, 5, 24}, -20, 20), scale, uniform({3, 5, 3}, 0, 100, type)},
                         blocks, 0, 1);
  }
}

TEST_CASE("DynamicQuantizeLinear takes its steps from the numbers beside NaN") {
  for (const double odd : {static_cast<double>(NAN), static_cast<double>(INFINITY), -static_cast<double>(INFINITY)})
    require_as_reference("DynamicQuantizeLinear", {tensor({4}, {-1, odd, 1, 2})}, {.outputs = 3}, 1e-6);
  Tensor x = uniform({70001}, -3, 5);
  x.mutable_data<float>()[50000] = NAN;
  require_as_reference("DynamicQuantizeLinear", {x}, {.outputs = 3}, 1e-6, 1);
}

TEST_CASE("DynamicQuantizeLinear finds the reference's steps") {
  for (const double only : {0.0, 3.0, -3.0, 1e-44})
    require_as_reference("DynamicQuantizeLinear", {tensor({3}, {only, only, only})}, {.outputs = 3}, 1e-6);
  for (const auto& [low, high] : {std::pair{-3.0, 5.0}, {1.0, 2.0}, {-4.0, -1.0}})
    for (const int64_t n : {1, 50, 70001}) {
      INFO(n << " numbers from " << low << " to " << high);
      require_as_reference("DynamicQuantizeLinear", {uniform({n}, low, high)}, {.outputs = 3}, 1e-6, 1);
    }
}

}  // namespace mlopt::test
