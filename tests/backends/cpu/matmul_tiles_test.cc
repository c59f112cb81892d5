#include "backends/cpu/matmul.h"
#include "core/ir/model.h"
#include "tests/support/catch.h"

namespace mlopt::test {
namespace {

/// Does one row wait for weights where the graph has so many of this type?
bool waits(DType type, int64_t weights, int64_t rows = 1) {
  Model model;
  Value* x = model.graph->add_value("x", Type::tensor(DType::kF32, SymDims{1, 1024}));
  Value* w = model.graph->add_constant("w", Tensor::zeros(type, {1024, weights / 1024}));
  const Node* node = model.graph->add_op("MatMul", {x, w}, {}, nullptr, "y");
  return cpu::waits_for_weights(rows, 1024, 1024, *node);
}

}  // namespace

TEST_CASE("one row waits for weights that no cache keeps, however few bits they have in the file") {
  constexpr int64_t kMany = 9 << 20, kFew = 7 << 20;  // 36 and 28 MB of floats
  for (const DType type : {DType::kF32, DType::kF16, DType::kI8, DType::kU4}) {
    INFO(name(type));
    CHECK(waits(type, kMany));
    CHECK_FALSE(waits(type, kFew));
  }
  CHECK(waits(DType::kF64, kFew));
}

TEST_CASE("more rows wait for weights that the second cache does not keep") {
  CHECK(waits(DType::kF32, 1 << 20, 8));
  CHECK_FALSE(waits(DType::kF32, 1 << 20, 7));
}

}  // namespace mlopt::test
