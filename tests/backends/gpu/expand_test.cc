#include "backends/gpu/expand.h"

#include "core/base/error.h"
#include "tests/support/cases.h"
#include "tests/support/catch.h"
#include "tests/support/gpu.h"
#include "tests/support/one_node.h"

namespace mlopt::test {

TEST_CASE("operators that the standard defines by others run on a GPU as these") {
  const Tensor x = uniform({3, 4, 5}, -2, 2), y = uniform({3, 4, 5}, -2, 2, DType::kF32, 2);
  require_on_gpu("Celu", {x}, {.attrs = {attr("alpha", 0.7f)}});
  require_on_gpu("SwiGLU", {x, y}, {.attrs = {attr("alpha", 1.3f)}, .opset = 28});
  require_on_gpu("MeanVarianceNormalization", {uniform({2, 3, 4, 5}, -1, 1)}, {.opset = 13}, 1e-4);
  const Tensor labels = tensor({3, 5}, {0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2}, DType::kI64);
  require_on_gpu("SoftmaxCrossEntropyLoss", {x, labels}, {.attrs = {attr("reduction", "sum")}});
}

TEST_CASE("what is refused of a replaced operator goes by its name") {
  const Tensor x = uniform({3}, 0, 1, DType::kF64);
  try {
    gpu_on_host()->compile(one_node("Celu", {x}, {}, 1), {});
    FAIL("it was not refused");
  } catch (const Error& e) {
    CHECK(e.code == Code::kUnsupported);
    CHECK(e.message.find("Celu") != std::string::npos);
  }
}

TEST_CASE("integers of all widths on a GPU wrap, shift and divide") {
  for (const DType type : {DType::kI8, DType::kU8, DType::kI16, DType::kU16, DType::kU32, DType::kI64, DType::kU64}) {
    INFO(name(type));
    const Tensor a = uniform({4, 7}, is_signed(type) ? -100 : 0, 100, type), b = uniform({7}, 1, 9, type, 3);
    for (const char* op : {"Add", "Sub", "Mul", "Div", "Max", "Min", "Mod", "BitwiseAnd", "BitwiseOr", "BitwiseXor"})
      require_on_gpu(op, {a, b}, {}, 0);
  }
  const Tensor a = uniform({9}, 0, 200, DType::kU8), by = counting({9}, DType::kU8);
  for (const char* direction : {"LEFT", "RIGHT"})
    require_on_gpu("BitShift", {a, by}, {.attrs = {attr("direction", direction)}}, 0);
}

}  // namespace mlopt::test
