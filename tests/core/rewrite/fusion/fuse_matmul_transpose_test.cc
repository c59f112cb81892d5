#include "core/rewrite/fusion/passes.h"
#include "tests/support/catch.h"
#include "tests/support/net.h"
#include "tests/support/rewrite.h"

namespace mlopt::test {
namespace {

/// A product of [2, 3, rows, k] by [2, 3, k, columns] whose operands are turned first where asked for, and, if `twice`,
/// read once more.
Model product(bool turn_left, bool turn_right, bool twice) {
  Net net;
  net.model.set_opset("com.microsoft", 1);
  const auto operand = [&](int64_t rows, int64_t columns, bool turn, const char* name) {
    Value* x = net.input(turn ? Dims{2, 3, columns, rows} : Dims{2, 3, rows, columns});
    net.graph().rename(x, name);
    x = turn ? net.op("Transpose", {x}, {{"perm", std::vector<int64_t>{0, 1, 3, 2}, ""}}) : x;
    if (twice) net.output(net.op("Neg", {x}));
    return x;
  };
  Value* left = operand(5, 7, turn_left, "left");
  net.output(net.op("MatMul", {left, operand(7, 9, turn_right, "right")}));
  return std::move(net.model);
}

}  // namespace

TEST_CASE("products read turned operands as they lie") {
  for (const auto& [left, right] : {std::pair(true, false), {false, true}}) {
    const Model model = product(left, right, false);
    CHECK(specialized_ops(model) == "FusedMatMul 1");
    require_same_result(model, 1e-5);
  }
}

TEST_CASE("operands that something else reads as well stay turned") {
  CHECK(specialized_ops(product(true, false, true)) == "MatMul 1, Neg 2, Transpose 1");
}

TEST_CASE("other axes than the last two are exchanged by themselves") {
  Net net;
  Value* x = net.op("Transpose", {net.input({7, 3, 2, 5})}, {{"perm", std::vector<int64_t>{2, 1, 3, 0}, ""}});
  net.output(net.op("MatMul", {x, net.constant(uniform({7, 9}, -1, 1))}));
  CHECK(specialized_ops(net.model) == "MatMul 1, Transpose 1");
  require_same_result(net.model, 1e-5);
}

TEST_CASE("what is written for ONNX Runtime reads turned operands too") {
  const auto graph = [](const std::string& type) {
    return "g (" + type + "[N,3,M] x, " + type + "[3,4] W) => (" + type +
           "[N,M,4] y) { t = Transpose <perm = [0, 2, 1]> (x)  y = MatMul (t, W) }";
  };
  CHECK(rewritten(fusion::fuse_matmul_transpose, graph("float"), 17, 1e-6, Target::kOrt) == "FusedMatMul");
  CHECK(declined(fusion::fuse_matmul_transpose, graph("float"), 17) == "only ONNX Runtime has it");
  CHECK(declined(fusion::fuse_matmul_transpose, graph("double"), 17, Target::kOrt) == "not float32 matrices");
}

TEST_CASE("a product that ONNX Runtime gives its bias stays") {
  const auto graph = [](const std::string& columns) {
    return "g (float[2,3," + columns + "] x, float[3,4] W, float[4] B) => (float[2," + columns +
           ",4] y) { t = Transpose <perm = [0, 2, 1]> (x)  m = MatMul (t, W)  y = Add (m, B) }";
  };
  CHECK(rewritten(fusion::fuse_matmul_transpose, graph("M"), 17, 1e-6, Target::kOrt) == "FusedMatMul Add");
  CHECK(declined(fusion::fuse_matmul_transpose, graph("5"), 17, Target::kOrt) == "a bias joins the product");
}

}  // namespace mlopt::test
