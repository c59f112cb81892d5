#include "core/rewrite/fusion/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

namespace mlopt::test {
namespace {

std::string graph(const std::string& nodes, const std::string& type = "float") {
  return "g (" + type + "[N,3,M] x, " + type + "[N,M,4] z) => (" + type + "[N,3,4] y) <" + type + " c = {0.5}, " +
         type + "[1] d = {4}, " + type + "[2,1,1,1] e = {1,2}, " + type + " none = {0}> { " + nodes + " }";
}

std::string fused(const std::string& nodes) {
  return rewritten(fusion::fuse_matmul_scale, graph(nodes), 17, 1e-5, Target::kOrt);
}

std::string reason(const std::string& nodes) {
  return declined(fusion::fuse_matmul_scale, graph(nodes), 17, Target::kOrt);
}

}  // namespace

TEST_CASE("a number at either operand or behind the product is its factor") {
  CHECK(fused("s = Mul (x, c)  y = MatMul (s, z)") == "FusedMatMul");
  CHECK(fused("s = Mul (c, z)  y = MatMul (x, s)") == "FusedMatMul");
  CHECK(fused("s = Div (x, d)  y = MatMul (s, z)") == "FusedMatMul");
  CHECK(fused("m = MatMul (x, z)  y = Mul (m, c)") == "FusedMatMul");
  CHECK(fused("m = MatMul (x, z)  y = Mul (c, m)") == "FusedMatMul");
  CHECK(fused("m = MatMul (x, z)  y = Div (m, d)") == "FusedMatMul");
  CHECK(fused("s = Mul (x, c)  t = Div (z, d)  m = MatMul (s, t)  y = Mul (m, d)") == "FusedMatMul");
}

TEST_CASE("factors that are there are kept, and so are transposes") {
  const std::string text =
      "g (float[N,M,3] x, float[N,M,4] z) => (float[N,3,4] y) <float c = {0.5}> { s = Mul (x, c)  y = "
      "com.microsoft.FusedMatMul <transA = 1, alpha = 3.0> (s, z) }";
  CHECK(rewritten(fusion::fuse_matmul_scale, text, 17, 1e-5, Target::kOrt) == "FusedMatMul");
}

TEST_CASE("what is no number, or read elsewhere, stays") {
  CHECK(reason("s = Mul (x, x)  y = MatMul (s, z)").empty());
  CHECK(reason("s = Div (c, x)  y = MatMul (s, z)").empty());
  CHECK(reason("s = Div (x, none)  y = MatMul (s, z)").empty());
  CHECK(reason("m = MatMul (x, z)  n = Mul (m, e)  y = ReduceSum <keepdims = 0, axes = [0]> (n)").empty());
  CHECK(reason("s = Mul (x, c)  m = MatMul (s, z)  n = MatMul (s, z)  y = Add (m, n)").find("used") !=
        std::string::npos);
}

TEST_CASE("other targets and types stay") {
  const std::string nodes = "s = Mul (x, c)  y = MatMul (s, z)";
  CHECK(declined(fusion::fuse_matmul_scale, graph(nodes), 17) == "only ONNX Runtime has it");
  CHECK(declined(fusion::fuse_matmul_scale, graph(nodes, "double"), 17, Target::kOrt) == "not float32 matrices");
}

TEST_CASE("a scaled product that ONNX Runtime gives its bias stays") {
  CHECK(declined(fusion::fuse_matmul_scale,
                 "g (float[2,3] x) => (float[2,4] y) <float[3,4] W = {1,2,3,4,5,6,7,8,9,10,11,12}, float[4] b = "
                 "{1,2,3,4}, float c = {2}> { s = Mul (x, c)  m = MatMul (s, W)  y = Add (m, b) }",
                 17, Target::kOrt) == "a bias joins the product");
}

}  // namespace mlopt::test
