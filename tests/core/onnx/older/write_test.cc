#include "core/onnx/older/write.h"

#include "core/onnx/tools.h"
#include "tests/support/catch.h"
#include "tests/support/older.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using mlopt::test::in_older;
using mlopt::test::not_in_older;

TEST_CASE("every version between is undone, in bodies too") {
  CHECK(in_older(R"(g (bool c, float[N,4] x) => (float[N,1] y) <int64[1] a = {1}> {
    y = If (c) <then_branch = t () => (float[N,1] p) { p = ReduceMean (x, a) },
                else_branch = e () => (float[N,1] q) { q = ReduceMax (x, a) }> })",
                 23, 11) == "If[ReduceMean][ReduceMax]");
  CHECK(in_older("g (float[N,8] x, float[8] s) => (float[N,8] y) { y = RMSNormalization (x, s) }", 23, 13)
            .find("Range") == std::string::npos);
}

TEST_CASE("inputs that may be omitted are not missed") {
  const auto loop = [](const std::string& inputs) {
    return in_older("g (float[2] x) => (float[2] y) <int64 n = {2}, bool go = {1}> { y = Loop (" + inputs + R"() <body =
      b (int64 i, bool c, float[2] v) => (bool k, float[2] w) { e = Less (i, n)  k = And (e, c)  w = Neg (v) }> })",
                    16, 11);
  };
  CHECK(loop("n, , x") == "Loop[Less And Neg]");
  CHECK(loop(", go, x") == "Loop[Less And Neg]");
}

TEST_CASE("operators and types that came later are named") {
  CHECK(not_in_older("g (float[1,4,4] x) => (y) <int64[2] i = {3, 3}, int64[2] b = {2, 2}> { y = Col2Im (x, i, b) }",
                     18, 17) == "opset 17 has no such operator");
  CHECK(not_in_older("g (bfloat16[N] x) => (bfloat16[N] y) { y = Sin (x) }", 22, 21) ==
        "opset 21 does not have it for bfloat16[N]");
  CHECK(not_in_older("g (int64[N] x) => (int64[N] y) { y = Clip (x) }", 13, 11) ==
        "opset 11 does not have it for int64[N]");
}

TEST_CASE("a scale for each group is another operator than one for each channel") {
  CHECK(in_older(R"(g (float[N,4,6] x, float[4] s, float[4] b) => (float[N,4,6] y) {
    y = GroupNormalization <num_groups = 2> (x, s, b) })",
                 21, 18)
            .find("GroupNormalization") == std::string::npos);
}

TEST_CASE("the IR version goes down with the opset, as far as functions allow") {
  Model model = test::fixture("g (float[N] x) => (float[N] y) { y = Relu (x) }", 21);
  model.ir_version = 10;
  CHECK(convert_opset(model, 17).ir_version == 8);
  CHECK(convert_opset(model, 11).ir_version == 6);
  model.ir_version = 7;
  CHECK(convert_opset(model, 17).ir_version == 7);
}
