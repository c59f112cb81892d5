#include "core/rewrite/fusion/passes.h"
#include "tests/support/catch.h"
#include "tests/support/net.h"
#include "tests/support/rewrite.h"

namespace mlopt::test {
namespace {

Value* number(Net& net, double x) { return net.constant(tensor({}, {x})); }

/// clip(x + 3, 0, most)
Value* clipped(Net& net, Value* x, double most = 6) {
  return net.op("Clip", {net.op("Add", {x, number(net, 3)}), number(net, 0), number(net, most)});
}

}  // namespace

TEST_CASE("hard swishes become one operator however they are spelt") {
  for (const int spelling : {0, 1, 2, 3}) {
    INFO("spelling " << spelling);
    Net net;
    Value* x = net.op("Mul", {net.input({5, 7}), number(net, 5)});
    if (spelling == 0) net.output(net.op("Div", {net.op("Mul", {x, clipped(net, x)}), number(net, 6)}));
    if (spelling == 1) net.output(net.op("Mul", {net.op("Mul", {clipped(net, x), x}), number(net, 1.0 / 6)}));
    if (spelling == 2) net.output(net.op("Mul", {x, net.op("Div", {clipped(net, x), number(net, 6)})}));
    if (spelling == 3)
      net.output(net.op("Mul", {net.op("HardSigmoid", {x}, {{"alpha", 1.0f / 6, ""}, {"beta", 0.5f, ""}}), x}));
    REQUIRE(prepared_ops(net.model) == "HardSwish 1, Mul 1");
    require_same_result(net.model, 1e-6);
  }
}

TEST_CASE("hard sigmoids become one operator") {
  Net net;
  Value* x = net.op("Mul", {net.input({5, 7}), number(net, 5)});
  net.output(net.op("Div", {clipped(net, x), number(net, 6)}));
  REQUIRE(prepared_ops(net.model) == "HardSigmoid 1, Mul 1");
  require_same_result(net.model, 1e-6);
}

TEST_CASE("other limits and slopes stay as they are") {
  Net limits;
  Value* x = limits.input({5, 7});
  limits.output(limits.op("Div", {limits.op("Mul", {x, clipped(limits, x, 5)}), number(limits, 6)}));
  REQUIRE(prepared_ops(limits.model) == "Add 1, Clip 1, Div 1, Mul 1");
  Net slope;
  Value* y = slope.input({5, 7});
  slope.output(slope.op("Mul", {slope.op("HardSigmoid", {y}), y}));
  REQUIRE(prepared_ops(slope.model) == "HardSigmoid 1, Mul 1");
  CHECK(declined(fusion::fuse_hard_swish,
                 "g (float[3] x) => (float[3] y) { h = HardSigmoid <alpha = nan, beta = 0.5> (x)  y = Mul (x, h) }") ==
        "another slope than a hard swish's");
}

TEST_CASE("a ramp whose offset is in a bias before it begins at zero") {
  const auto graph = [](const std::string& most) {
    return "g (double[N] x) => (double[N] y) <double zero = {0}, double six = {6}, double most = {" + most +
           "}> { c = Clip (x, zero, most)  y = Div (c, six) }";
  };
  CHECK(rewritten(fusion::fuse_hard_swish, graph("6"), 13, 1e-6) == "HardSigmoid");
  CHECK(declined(fusion::fuse_hard_swish, graph("5"), 13) == "other numbers than a hard sigmoid's");
}

TEST_CASE("HardSwish needs an opset that has it") {
  const char* graph = R"(g (double[N] x) => (double[N] y) <double three = {3}, double zero = {0}, double six = {6}> {
    a = Add (x, three)  c = Clip (a, zero, six)  p = Mul (x, c)  y = Div (p, six) })";
  CHECK(rewritten(fusion::fuse_hard_swish, graph, 14, 1e-6) == "HardSwish");
  CHECK(rewritten(fusion::fuse_hard_swish, R"(g (double[N] x) => (double[N] y)
    <double three = {3}, double zero = {0}, double six = {6}> {
    a = Add (x, three)  c = Clip (a, zero, six)  y = Div (c, six) })",
                  13, 1e-6) == "HardSigmoid");
  CHECK(declined(fusion::fuse_hard_swish, graph, 13).find("HardSwish needs opset 14") != std::string::npos);
}

TEST_CASE("bfloat16 needs operators of opset 22") {
  // As bits: 3 and 6.
  const std::string clipped = R"(g (bfloat16[N] x) => (bfloat16[N] y)
    <bfloat16 three = {16448}, bfloat16 zero = {0}, bfloat16 six = {16576}> {
    a = Add (x, three)  c = Clip (a, zero, six)  )";
  CHECK(rewritten(fusion::fuse_hard_swish, clipped + "y = Div (c, six) }", 22, 3e-2) == "HardSigmoid");
  CHECK(declined(fusion::fuse_hard_swish, clipped + "y = Div (c, six) }", 21) == "HardSigmoid has not its type");
  const std::string swish = clipped + "p = Mul (x, c)  y = Div (p, six) }";
  CHECK(rewritten(fusion::fuse_hard_swish, swish, 22, 3e-2) == "HardSwish");
  CHECK(declined(fusion::fuse_hard_swish, swish, 21).find("HardSwish needs opset 14, of bfloat16 22") !=
        std::string::npos);
}

}  // namespace mlopt::test
