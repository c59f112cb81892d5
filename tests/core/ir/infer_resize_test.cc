#include "tests/support/catch.h"
#include "tests/support/infer.h"

using namespace mlopt::test;

namespace {

struct Case {
  int opset;
  const char *inputs, *node, *constants, *expected;
};

std::string own(const std::string& inputs, const std::string& node, const std::string& constants = "") {
  return types_in(inputs, node, "y", 19, nullptr, constants);
}

}  // namespace

TEST_CASE("resized pictures have the shapes that ONNX's own inference gives") {
  for (const Case& c : std::initializer_list<Case>{
           {7, "float[1,2,5,7] x", "y = Upsample<scales = [1.0, 1.0, 2.0, 1.5]>(x)", "", "float32[1,2,10,10]"},
           {9, "float[1,2,5,7] x", "y = Upsample(x, s)", "float[4] s = {1, 1, 2, 3}", "float32[1,2,10,21]"},
           {10, "float[1,2,5,7] x", "y = Resize(x, s)", "float[4] s = {1, 1, 0.5, 0.35}", "float32[1,2,2,2]"},
           {13, "float[1,2,5,7] x", "y = Resize(x, , s)", "float[4] s = {1, 1, 2.5, 1}", "float32[1,2,12,7]"},
           {13, "float[1,2,5,7] x", "y = Resize(x, , , s)", "int64[4] s = {1, 2, 9, 4}", "float32[1,2,9,4]"}}) {
    INFO(c.opset << c.node);
    CHECK(types_in(c.inputs, c.node, "y", c.opset, nullptr, c.constants) == c.expected);
    CHECK(standard_type_in(c.inputs, c.node, "y", c.opset, c.constants) == c.expected);
  }
}

TEST_CASE("free dimensions are scaled by whole numbers only") {
  CHECK(own("float[N,2,H,W] x", "y = Resize(x, , s)", "float[4] s = {1, 1, 2, 3}") == "float32[N,2,2*H,3*W]");
  CHECK(own("float[N,2,H,W] x", "y = Resize(x, , s)", "float[4] s = {1, 1, 2, 1.5}") == "?");
}

TEST_CASE("what is rarer, or makes no sense, is left to the standard") {
  CHECK(own("float[1,2,5,7] x", "y = Resize<axes = [2, 3]>(x, , s)", "float[2] s = {2, 2}") == "?");
  CHECK(own("float[1,2,5,7] x", "y = Resize<keep_aspect_ratio_policy = \"not_larger\">(x, , , s)",
            "int64[4] s = {1, 2, 9, 4}") == "?");
  CHECK(own("float[1,2,5,7] x", "y = Resize(x, , s)", "float[3] s = {1, 1, 2}") == "?");
  CHECK(own("float[1,2,5,7] x", "y = Resize(x, , s)", "float[4] s = {1, 1, 2, -1}") == "?");
  CHECK(own("float[1,2,5,7] x, float[4] s", "y = Resize(x, , s)") == "?");
}
