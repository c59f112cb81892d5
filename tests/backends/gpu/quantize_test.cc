#include "tests/support/cases.h"
#include "tests/support/catch.h"
#include "tests/support/gpu.h"

namespace mlopt::test {

TEST_CASE("numbers become codes on a GPU as the reference has it") {
  const Tensor x = tensor({2, 3, 2}, {-3, -1.25, 0.25, 0.75, NAN, 1e9, -1e9, 2.5, 3.5, INFINITY, -0.5, 7});
  for (const DType type :
       {DType::kI8, DType::kU8, DType::kI16, DType::kU16, DType::kI4, DType::kU4, DType::kI2, DType::kU2}) {
    INFO(name(type));
    require_on_gpu("QuantizeLinear", {x, tensor({}, {0.5}), tensor({1}, {1}, type)}, {}, 0);
    require_on_gpu("QuantizeLinear", {x, tensor({3}, {0.5, 1, 0.3}), tensor({3}, {3, 0, 1}, type)}, {}, 0);
    require_on_gpu("QuantizeLinear", {uniform({7}, -9, 9), tensor({}, {0.7})},
                   {.attrs = {attr("output_dtype", static_cast<int>(type))}}, 0);
  }
  for (const DType half : {DType::kF16, DType::kBF16})
    require_on_gpu("QuantizeLinear", {uniform({5, 40}, -9, 9, half), uniform({40}, 0.05, 1, half)}, {}, 0);
}

TEST_CASE("codes become numbers on a GPU") {
  for (const DType type : {DType::kI8, DType::kU8, DType::kI16, DType::kI32, DType::kI4, DType::kU4}) {
    INFO(name(type));
    const Tensor x = tensor({3, 2, 2}, {0, 1, 2, 3, 4, 5, 6, 7, 0, 7, 3, 1}, type);
    require_on_gpu("DequantizeLinear", {x, tensor({}, {0.5})}, {}, 0);
    if (type == DType::kI32) continue;
    require_on_gpu("DequantizeLinear", {x, tensor({2}, {0.5, 0.3}), tensor({2}, {3, 1}, type)}, {}, 0);
    require_on_gpu("DequantizeLinear", {x, tensor({3}, {0.5, 0.3, 2}), tensor({3}, {3, 1, 0}, type)},
                   {.attrs = {attr("axis", 0)}}, 0);
  }
  require_on_gpu("DequantizeLinear", {tensor({4}, {-8, -1, 7, 0}, DType::kI4), tensor({}, {0.1}, DType::kF16)}, {}, 0);
}

TEST_CASE("floats of 4 bits are codes on a GPU too") {
  const OpOptions options{.attrs = {attr("output_dtype", static_cast<int>(DType::kF4E2M1))}, .opset = 23};
  const Tensor x = tensor({3, 3}, {-9, -0.3, 0, 0.3, 0.25, 1.26, 3.4, 5, INFINITY});
  require_on_gpu("QuantizeLinear", {x, tensor({3}, {1, 0.5, 2})}, options, 0);
  const Tensor codes = run_op("QuantizeLinear", {x, tensor({}, {1})}, options);
  require_on_gpu("DequantizeLinear", {codes, tensor({3}, {1, 0.5, 2})}, {.opset = 23}, 0);
}

TEST_CASE("blocks of codes have their own scales on a GPU") {
  for (const int axis : {0, 1, 2}) {
    Dims dims{4, 6, 5}, scales = dims;
    auto& blocks = scales[static_cast<size_t>(axis)];
    blocks = (blocks + 1) / 2;
    const OpOptions options{.attrs = {attr("axis", axis), attr("block_size", 2)}};
    const Tensor scale = uniform(scales, 0.1, 1), zero = uniform(scales, -5, 5, DType::kI8);
    require_on_gpu("DequantizeLinear", {uniform(dims, -100, 100, DType::kI8), scale, zero}, options, 0);
    require_on_gpu("QuantizeLinear", {uniform(dims, -50, 50), scale, zero}, options, 0);
  }
}

TEST_CASE("codes of a tensor's own range on a GPU") {
  const OpOptions options{.outputs = 3};
  require_on_gpu("DynamicQuantizeLinear", {uniform({3, 5, 200}, -2, 5)}, options, 0);
  require_on_gpu("DynamicQuantizeLinear", {uniform({40}, 2, 5)}, options, 0);
  require_on_gpu("DynamicQuantizeLinear", {tensor({2, 2}, {0, 0, 0, 0})}, options, 0);
  for (const double x : {double{NAN}, double{INFINITY}, -double{INFINITY}})
    for (const double y : {1.0, double{NAN}, -double{INFINITY}})
      require_on_gpu("DynamicQuantizeLinear", {tensor({4}, {x, y, 2, -3})}, options, 0);
}

}  // namespace mlopt::test
