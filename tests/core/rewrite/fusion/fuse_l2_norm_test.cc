#include "core/rewrite/fusion/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using test::declined;
using test::rewritten;

namespace {

std::string graph(const std::string& body, const std::string& least = "1e-12", const std::string& type = "double") {
  return "g (" + type + "[N,3,5] x, " + type + "[N,3,5] z) => (" + type +
         "[N,3,5] y) <int64[1] at = {-1}, int64[2] both = {1, 2}, int64 axis = {1}, " + type + " least = {" + least +
         "}, " + type + " two = {2}, " + type + " half = {" + (type == "float16" ? "1" : "0.5") + "}> { " + body + " }";
}

std::string fused(const std::string& body, int64_t opset = 22) {
  return rewritten(fusion::fuse_l2_norm, graph(body), opset);
}

std::string kept(const std::string& body, const std::string& least = "1e-12", int64_t opset = 22,
                 Target target = Target::kOnnx) {
  return declined(fusion::fuse_l2_norm, graph(body, least), opset, target);
}

const std::string kUsual =
    "n = ReduceL2 (x, at)  m = Clip (n, least)  s = Shape (x)  e = Expand (m, s)  y = Div (x, e)";

}  // namespace

TEST_CASE("a value divided by its length is one operator") {
  CHECK(fused(kUsual) == "LpNormalization");
  CHECK(fused("n = ReduceL2 (x, at)  m = Max (least, n)  y = Div (x, m)") == "LpNormalization");
  CHECK(fused("q = ReduceSumSquare (x, at)  n = Sqrt (q)  m = Max (n, least)  y = Div (x, m)") == "LpNormalization");
  CHECK(fused("p = Mul (x, x)  q = ReduceSum (p, at)  n = Pow (q, half)  m = Clip (n, least)  y = Div (x, m)") ==
        "LpNormalization");
  CHECK(fused("p = Pow (x, two)  q = ReduceSum (p, at)  n = Sqrt (q)  m = Clip (n, least)  y = Div (x, m)") ==
        "LpNormalization");
}

TEST_CASE("other axes are kept, and ONNX Runtime has the operator in all opsets") {
  const std::string first = "n = ReduceL2 <axes = [1]> (x)  m = Clip (n, least)  y = Div (x, m)";
  CHECK(rewritten(fusion::fuse_l2_norm, graph(first), 17, 1e-12, Target::kOrt) == "LpNormalization");
  CHECK(kept(first, "1e-12", 17) == "LpNormalization of zeros is defined from opset 22 on");
  CHECK(declined(fusion::fuse_l2_norm, graph(first), 17, Target::kTensorrt) ==
        "the target has no LpNormalization, or one that divides by zero");
}

TEST_CASE("what is no such quotient stays") {
  CHECK(kept("n = ReduceL2 (x, at)  y = Div (x, n)") == "zeros would stay zeros, not become NaN");
  CHECK(kept(kUsual, "nan") == "zeros would stay zeros, not become NaN");
  CHECK(kept(kUsual, "1e-6") == "what is short would become longer");
  CHECK(kept("n = ReduceL2 (z, at)  m = Clip (n, least)  y = Div (x, m)") == "another value's length divides");
  CHECK(kept("n = ReduceL2 (x, both)  m = Clip (n, least)  y = Div (x, m)").empty());
  CHECK(kept("n = ReduceL1 (x, at)  m = Clip (n, least)  y = Div (x, m)").empty());
  CHECK(kept("n = ReduceL2 (x, at)  m = Clip (n, least, two)  y = Div (x, m)").empty());
  CHECK(kept("p = Mul (x, z)  q = ReduceSum (p, at)  n = Sqrt (q)  m = Clip (n, least)  y = Div (x, m)").empty());
  CHECK(declined(fusion::fuse_l2_norm, graph(kUsual, "0", "float16"), 22) == "zeros would stay zeros, not become NaN");
}

TEST_CASE("a length that is an output of the graph stays beside the operator") {
  std::string text = graph("n = ReduceL2 (x, at)  m = Clip (n, least)  y = Div (x, m)");
  text.replace(text.find("[N,3,5] y"), 9, "[N,3,5] y, double[N,3,1] n");
  CHECK(rewritten(fusion::fuse_l2_norm, text, 22) == "ReduceL2 LpNormalization");
}

TEST_CASE("a length that repeats what it divides stays") {
  CHECK(declined(fusion::fuse_l2_norm,
                 "g (float[1,4] x) => (float[3,4] y) <float e = {1e-12}, int64[2] wide = {3, 4}, int64[1] last = {-1}> "
                 "{ n = ReduceL2 (x, last)  c = Clip (n, e)  w = Expand (c, wide)  y = Div (x, w) }",
                 22) == "what divides it repeats it");
}
