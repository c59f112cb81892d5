#include "core/rewrite/fusion/passes.h"
#include "tests/support/catch.h"
#include "tests/support/net.h"
#include "tests/support/rewrite.h"

namespace mlopt::test {

TEST_CASE("a value times its sigmoid becomes one operator") {
  for (const bool swapped : {false, true}) {
    Net net;
    Value* x = net.input({5, 7});
    Value* gate = net.op("Sigmoid", {x});
    net.output(swapped ? net.op("Mul", {gate, x}) : net.op("Mul", {x, gate}));
    REQUIRE(prepared_ops(net.model) == "Swish 1");
    require_same_result(net.model, 1e-6);
  }
}

TEST_CASE("a gate of another value, or one that is read again, stays") {
  Net other;
  Value* x = other.input({5, 7});
  other.output(other.op("Mul", {other.op("Neg", {x}), other.op("Sigmoid", {x})}));
  REQUIRE(prepared_ops(other.model) == "Mul 1, Neg 1, Sigmoid 1");
  Net read;
  Value* y = read.input({5, 7});
  Value* gate = read.op("Sigmoid", {y});
  read.output(read.op("Mul", {y, gate}));
  read.output(gate);
  REQUIRE(prepared_ops(read.model) == "Mul 1, Sigmoid 1");
}

TEST_CASE("SiLU and QuickGELU are what the target has") {
  const char* silu = "g (float[N] x) => (float[N] y) { s = Sigmoid (x)  y = Mul (x, s) }";
  const char* quick =
      "g (float[N] x) => (float[N] y) <float a = {1.702}> { p = Mul (x, a)  s = Sigmoid (p)  y = Mul (s, x) }";
  for (const char* graph : {silu, quick}) {
    CHECK(rewritten(fusion::fuse_swish, graph, 24, 1e-6) == "Swish");
    CHECK(rewritten(fusion::fuse_swish, graph, 17, 1e-6, Target::kOrt) == "QuickGelu");
    CHECK(declined(fusion::fuse_swish, graph, 23).starts_with("Swish needs opset 24"));
  }
  CHECK(declined(fusion::fuse_swish, "g (float16[N] x) => (float16[N] y) { s = Sigmoid (x)  y = Mul (x, s) }", 25,
                 Target::kOrt) == "ONNX Runtime does not run Swish of opset 25");
  CHECK(declined(fusion::fuse_swish, R"(g (float[N] x, float[N] z) => (float[N] y) {
    s = Sigmoid (z)  y = Mul (x, s) })",
                 24) == "two values are multiplied");
}

}  // namespace mlopt::test
