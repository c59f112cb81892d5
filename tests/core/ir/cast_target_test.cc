#include "core/ir/cast_target.h"

#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;

namespace {

DType target(const std::string& to, int64_t opset) {
  const Model model = test::fixture("g (float[N] x) => (float[N] y) { y = Cast <to = " + to + "> (x) }", opset);
  return cast_target(NodeView(*model.graph->nodes().front(), opset));
}

}  // namespace

TEST_CASE("the type of a Cast is a number, before opset 6 a name") {
  CHECK(target("7", 6) == DType::kI64);
  CHECK(target("\"INT64\"", 5) == DType::kI64);
  CHECK(target("\"FLOAT\"", 1) == DType::kF32);
  CHECK(target("\"DOUBLE\"", 5) == DType::kF64);
  CHECK(target("\"bool\"", 5) == DType::kBool);
}

TEST_CASE("what is no type of ONNX is undefined") {
  for (const char* number : {"-1", "0", "1000"}) CHECK(target(number, 13) == DType::kUndefined);
  CHECK(target("\"TRIPLE\"", 5) == DType::kUndefined);
}
