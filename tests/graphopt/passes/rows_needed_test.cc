#include "graphopt/passes/rows_needed.h"

#include "core/base/text.h"
#include "core/ir/infer.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;

namespace {

/// The axes of the inputs along which one row is needed, "-" for those needed whole, for the row of y along `axis`.
std::string needed(const std::string& node, size_t axis, bool stays = true, int64_t opset = 23) {
  Model model = test::fixture(
      "g (float[A,B,4] x, float[A,B,4] z, float[A,1,4] r, float[4,4] w, float[4] v, float[A,2,B,2] heads, "
      "float[A,2,2,B] turned, float[B,B] mask, float[1,B] row, int32[A,B] keys, float[1,1,B,B] bias) => (int64[R] "
      "shape) <int64[4] parted = {0, 0, 2, 2}, "
      "int64[3] joined = {0, -1, 2}, int64[2] flat = {-1, 4}, int64[3] one = {1, 0, -1}> { " +
          node + "  shape = Shape (y) }",
      opset);
  infer(model, test::pass_context().standard_types);
  const Node& made = *model.graph->find("y")->producer;
  const auto rows = graphopt::rows_needed(made, axis, stays, Builder(model, *model.graph, nullptr));
  if (!rows) return "none";
  std::vector<std::string> axes;
  for (const auto& row : *rows) axes.push_back(row ? std::to_string(*row) : "-");
  return join(axes, " ");
}

}  // namespace

TEST_CASE("operands of the row's length are needed at that row, broadcast ones whole") {
  CHECK(needed("y = Add (x, z)", 1) == "1 1");
  CHECK(needed("y = Mul (x, r)", 1) == "1 -");
  CHECK(needed("y = Mul (x, r)", 1, false) == "none");
  CHECK(needed("y = Add (x, v)", 1) == "1 -");
  CHECK(needed("y = Add (x, v)", 2) == "2 0");
  CHECK(needed("n = IsNaN (x)  y = Where (n, v, x)", 1) == "1 - 1");
}

TEST_CASE("a product needs rows of its left operand, and all of the right one") {
  CHECK(needed("y = MatMul (x, w)", 1) == "1 -");
  CHECK(needed("y = MatMul (x, w)", 0) == "0 -");
  CHECK(needed("y = MatMul (x, w)", 2) == "none");
  CHECK(needed("y = MatMul (heads, turned)", 2) == "2 -");
  CHECK(needed("y = MatMul (heads, turned)", 2, false) == "none");
  CHECK(needed("y = MatMul (heads, turned)", 1) == "none");
  CHECK(needed("y = MatMul (heads, turned)", 3) == "none");
}

TEST_CASE("normalizations need the rows that they normalize") {
  CHECK(needed("y = LayerNormalization (x, v)", 1) == "1 -");
  CHECK(needed("y = LayerNormalization (x, v)", 2) == "none");
  CHECK(needed("y = Softmax (heads)", 2) == "2");
  CHECK(needed("y = Softmax <axis = 2> (heads)", 2) == "none");
  CHECK(needed("y = Softmax <axis = 1> (heads)", 2, true, 12) == "none");
}

TEST_CASE("a Transpose or Reshape needs the row where it has come from") {
  CHECK(needed("y = Transpose <perm = [0, 2, 1, 3]> (heads)", 1) == "2");
  CHECK(needed("y = Transpose <perm = [0, 2, 1, 3]> (heads)", 1, false) == "none");
  CHECK(needed("y = Reshape (x, parted)", 1) == "1 -");
  CHECK(needed("y = Reshape (x, parted)", 2) == "none");
  CHECK(needed("y = Reshape (x, flat)", 0) == "none");
  CHECK(needed("y = Reshape (r, one)", 0) == "none");
  CHECK(needed("y = Reshape (mask, one)", 1) == "0 -");
}

TEST_CASE("attention needs one query, and that row of the mask") {
  const std::string heads = "<q_num_heads = 2, kv_num_heads = 2";
  CHECK(needed("y = Attention " + heads + "> (x, z, z)", 1) == "1 - -");
  CHECK(needed("y = Attention " + heads + "> (x, z, z, mask)", 1) == "1 - - 0");
  CHECK(needed("y = Attention " + heads + "> (x, z, z, row)", 1) == "1 - - -");
  CHECK(needed("y = Attention " + heads + "> (x, z, z)", 0) == "none");
  CHECK(needed("y = Attention " + heads + ", is_causal = 1> (x, z, z)", 1) == "none");
  CHECK(needed("y = Attention (heads, heads, heads)", 2) == "2 - -");
}

TEST_CASE("multi-head attention of ONNX Runtime needs one query, where it keeps nothing") {
  const auto axes = [](const std::string& operands, const std::string& more = "") {
    return needed("y = com.microsoft.MultiHeadAttention <num_heads = 2" + more + "> (" + operands + ")", 1);
  };
  CHECK(axes("x, z, z") == "1 - -");
  CHECK(axes("x, z, z, , keys") == "1 - - - -");
  CHECK(axes("x, z, z, , , bias") == "1 - - - - 2");
  CHECK(axes("x, z, z", ", unidirectional = 1") == "none");
  CHECK(axes("x, z, z, , , , heads, heads") == "none");
  CHECK(axes("x, turned, z") == "none");
}

TEST_CASE("what works across rows, or gives several values, needs all") {
  CHECK(needed("y = CumSum (x, v)", 1) == "none");
  CHECK(needed("y, rest = Split <axis = 2, num_outputs = 2> (x)", 1) == "none");
}
