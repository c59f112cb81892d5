#include "core/rewrite/fusion/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using test::declined;
using test::rewritten;

namespace {

/// x normalized over `axes`, times W plus B.
std::string graph(const std::string& end = "n = Div (d, r)  p = Mul (W, n)  y = Add (p, B)",
                  const std::string& axes = "1", const std::string& shape = "5,1,1") {
  return "g (float[N,5,H,L] x, float[N,5,H,L] z, float[" + shape +
         "] W, float[1,5,1,1] B) => (float[N,5,H,L] y) "
         "<float two = {2}, float e = {0.00001}, int64[1] axes = {" +
         axes +
         "}> { m = ReduceMean (x, axes)  d = Sub (x, m)  q = Pow (d, two)  v = ReduceMean (q, axes)  a = Add (v, e)  "
         "r = Sqrt (a)  " +
         end + " }";
}

std::string reasons(const std::string& text, int64_t opset = 18, Target target = Target::kOrt) {
  return declined(fusion::fuse_channel_norm, text, opset, target);
}

}  // namespace

TEST_CASE("LayerNorm over channels is LayerNormalization between Transposes for ONNX Runtime") {
  for (const std::string end : {"n = Div (d, r)  p = Mul (W, n)  y = Add (p, B)",
                                "i = Reciprocal (r)  n = Mul (d, i)  p = Mul (n, W)  y = Add (B, p)"})
    CHECK(rewritten(fusion::fuse_channel_norm, graph(end), 18, 1e-4, Target::kOrt) ==
          "Transpose LayerNormalization Transpose");
  CHECK(rewritten(fusion::fuse_channel_norm, R"(g (float[N,5,H] x, float[5,1] W, float[5,1] B) => (float[N,5,H] y)
    <float two = {2}, float e = {0.00001}> { m = ReduceMean <axes = [1]> (x)  d = Sub (x, m)  q = Pow (d, two)
      v = ReduceMean <axes = [-2]> (q)  a = Add (v, e)  r = Sqrt (a)  n = Div (d, r)  p = Mul (n, W)  y = Add (p, B) })",
                  17, 1e-4, Target::kOrt) == "Transpose LayerNormalization Transpose");
}

TEST_CASE("other axes, targets and factors stay") {
  CHECK(reasons(graph(), 18, Target::kOnnx) == "only ONNX Runtime gains from LayerNormalization of channels");
  CHECK(reasons(graph("n = Div (d, r)  p = Mul (W, n)  y = Add (p, B)", "2")).empty());
  CHECK(reasons(graph("n = Div (x, r)  p = Mul (W, n)  y = Add (p, B)")).empty());
  CHECK(reasons(graph("n = Div (d, r)  p = Mul (n, W)  y = Add (p, B)", "1", "1")) ==
        "scale and bias are not by channel");
  CHECK(reasons(graph("n = Div (d, r)  p = Mul (n, z)  y = Add (p, B)")).find("not constant") != std::string::npos);
}
