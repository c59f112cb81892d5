#include "core/rewrite/fusion/loaded_gemm.h"

#include "core/ir/infer.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;

namespace {

/// Whether the product of x of that type by a matrix becomes Gemm with what reads it.
bool joins(const std::string& x, const std::string& reader, const std::string& inputs = "") {
  Model model = test::fixture(
      "g (" + x + " x, float[6,4] W, float[4] B" + inputs + ") => (float y) { m = MatMul (x, W) " + reader + " }", 17);
  infer(model);
  return fusion::becomes_gemm(*model.graph->find("m")->producer);
}

}  // namespace

TEST_CASE("a product of known sizes takes the row that is added to it") {
  CHECK(joins("float[2,3,6]", "y = Add (m, B)"));
  CHECK(joins("float[3,6]", "y = Add (B, m)"));
}

TEST_CASE("free sizes, rows that are no constants and second readers keep them apart") {
  CHECK_FALSE(joins("float[N,3,6]", "y = Add (m, B)"));
  CHECK_FALSE(joins("float[2,3,6]", "y = Add (m, b)", ", float[4] b"));
  CHECK_FALSE(joins("float[2,3,6]", "y = Add (m, R)", ", float[3,4] R"));
  CHECK_FALSE(joins("float[2,3,6]", "y = Sum (m, B)"));
  CHECK_FALSE(joins("float[2,3,6]", "s = Add (m, B)  y = Mul (s, m)"));
}
