#include "tests/support/catch.h"
#include "tests/support/cpu.h"
#include "tests/support/net.h"

namespace mlopt::test {
namespace {

using Ints = std::vector<int64_t>;

OpOptions on_axis(int64_t axis) { return {.attrs = {{"axis", axis, ""}}}; }

}  // namespace

TEST_CASE("rows are taken of any axis by indices of either type, given or constant") {
  const Tensor x = uniform({4, 5, 6}, -1, 1);
  for (const DType type : {DType::kI32, DType::kI64})
    for (int64_t axis = -3; axis < 3; ++axis) {
      INFO("axis " << axis);
      require_as_reference("Gather", {x, tensor({2, 3}, {0, -1, 3, 1, 1, -4}, type)}, on_axis(axis), 0);
      require_as_reference("Gather", {x, tensor({}, {-2}, type)}, on_axis(axis), 0);
      require_as_reference("Gather", {x, tensor({4}, {0, 2, 1, 3}, type)}, on_axis(axis), 0);
      require_as_reference("Gather", {x, tensor({3}, {1, 2, 3}, type)}, on_axis(axis), 0);
      require_as_reference("Gather", {x, tensor({3}, {3, 2, 1}, type)}, on_axis(axis), 0);
      require_as_reference("Gather", {x, tensor({3}, {2, 2, 2}, type)}, on_axis(axis), 0);
    }
  for (const DType type : {DType::kF64, DType::kU8, DType::kBool, DType::kF16})
    require_as_reference("Gather", {uniform({7, 3}, 0, 9, type), tensor({2}, {6, -7}, DType::kI64)}, on_axis(0), 0);
  require_as_reference("Gather", {uniform({900, 70}, -1, 1), uniform({3, 200}, -900, 899, DType::kI64)}, on_axis(0), 0);
}

TEST_CASE("constant places are views where their rows lie side by side") {
  Net net;
  Value* x = net.op("Neg", {net.input({3, 4, 5})});
  Value* row = net.op("Gather", {x, net.constant(Tensor::scalar<int64_t>(2))});
  Value* rows = net.op("Gather", {x, net.constant(Tensor::ints({1, 2}))});
  net.output(net.op("Relu", {row}));
  net.output(net.op("Add", {rows, row}));
  net.output(net.op("Gather", {row, net.constant(Tensor::ints({-1}))}));
  require_same_result(net.model, 0, true);
}

TEST_CASE("an index that is not on the axis is an error that names it") {
  const std::unique_ptr<Backend> cpu = cpu_with_fallback();
  for (const bool fixed : {false, true})
    for (const int64_t place : {3, -4}) {
      OpOptions options = on_axis(0);
      options.fixed = fixed;
      options.backend = cpu.get();
      const std::string error = error_of("Gather", {uniform({3, 2}, -1, 1), Tensor::ints({0, place})}, options);
      CHECK(error.find("index " + std::to_string(place) + " is outside an axis of 3 elements") != std::string::npos);
    }
}

}  // namespace mlopt::test
