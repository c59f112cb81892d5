#include "core/rewrite/fusion/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using test::declined;
using test::rewritten;

namespace {

std::string graph(const std::string& nodes, const std::string& outputs = "float[N,M,6] y") {
  return "g (float[N,M,6] x, float[N,M,6] z, float[M,6] w, float[6] S, float[6] B, float[6] C) => (" + outputs +
         ") { " + nodes + " }";
}
std::string fused(const std::string& nodes, const std::string& outputs = "float[N,M,6] y") {
  return rewritten(fusion::fuse_skip_norm, graph(nodes, outputs), 17, 1e-5, Target::kOrt);
}
std::string kept(const std::string& nodes, const std::string& outputs = "float[N,M,6] y") {
  return declined(fusion::fuse_skip_norm, graph(nodes, outputs), 17, Target::kOrt);
}

}  // namespace

TEST_CASE("the sum before a normalization is part of it") {
  CHECK(fused("s = Add (x, z)  y = LayerNormalization (s, S, B)") == "SkipLayerNormalization");
  CHECK(fused("s = Add (x, z)  y = LayerNormalization <epsilon = 0.5> (s, S)") == "SkipLayerNormalization");
  CHECK(fused("s = Sum (x, z)  y = LayerNormalization (s, S, B)") == "SkipLayerNormalization");
  CHECK(fused("s = Add (x, z)  y = SimplifiedLayerNormalization (s, S)") == "SkipSimplifiedLayerNormalization");
}

TEST_CASE("a row that is added to one of the operands is its bias") {
  CHECK(fused("b = Add (C, x)  s = Add (b, z)  y = LayerNormalization (s, S, B)") == "SkipLayerNormalization");
  CHECK(fused("b = Add (x, C)  s = Add (z, b)  y = SimplifiedLayerNormalization (s, S)") ==
        "SkipSimplifiedLayerNormalization");
}

TEST_CASE("sums that cannot join stay") {
  CHECK(kept("s = Add (x, z)  n = LayerNormalization (s, S, B)  y = Mul (s, n)") == "something else reads the sum");
  CHECK(kept("s = Add (x, z)  y = LayerNormalization (s, S, B)", "float[N,M,6] y, float[N,M,6] s") ==
        "something else reads the sum");
  CHECK(kept("s = Add (x, w)  y = LayerNormalization (s, S, B)") == "the operands of the sum may differ in shape");
  CHECK(kept("s = Add (x, z)  y = LayerNormalization <axis = 1> (s, S, B)") ==
        "it is not float32, or not over the last axis alone");
  CHECK(declined(fusion::fuse_skip_norm, graph("s = Add (x, z)  y = LayerNormalization (s, S, B)"), 17) ==
        "only ONNX Runtime has it");
}
