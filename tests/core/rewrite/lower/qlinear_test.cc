#include "core/rewrite/lower/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;

namespace {

/// A graph whose call reads codes x of shape [2,3,4,4], y that spreads over them, and steps s, z, S, Z, and t, t0 by
/// channel.
std::string graph_of(const std::string& call) {
  return "g (uint8[2,3,4,4] x, uint8[3,1,1] y, bool[4] c) => (uint8[2,3,?,?] r) <float s = {0.05}, uint8 z = {7}, "
         "float S = {0.02}, uint8 Z = {100}, float[3] t = {0.1, 0.2, 0.3}, uint8[3] t0 = {1, 2, 3}> { r = "
         "com.microsoft." +
         call + " }";
}

std::string lowered(const std::string& call, int64_t opset = 21) {
  return test::rewritten(lower::qlinear, graph_of(call), opset, 0, Target::kKernels);
}

}  // namespace

TEST_CASE("operators on codes that no kernel knows go by floats") {
  CHECK(lowered("QLinearAveragePool <kernel_shape = [2, 2], strides = [2, 2], channels_last = 0> (x, s, z, S, Z)") ==
        "DequantizeLinear AveragePool QuantizeLinear");
  CHECK(lowered("QLinearSoftmax <axis = 1, opset = 13> (x, s, z, S, Z)") == "DequantizeLinear Softmax QuantizeLinear");
  CHECK(lowered("QLinearWhere (c, x, s, z, y, S, Z, S, Z)") ==
        "DequantizeLinear DequantizeLinear Where QuantizeLinear");
}

TEST_CASE("codes without a zero point keep their type") {
  CHECK(test::rewritten(lower::qlinear,
                        "g (int8[1,1,4,4] x) => (int8[1,1,2,2] r) <float s = {0.05}, float S = {0.02}> { r = "
                        "com.microsoft.QLinearAveragePool <kernel_shape = [3, 3]> (x, s, , S) }",
                        21, 0, Target::kKernels) == "DequantizeLinear AveragePool QuantizeLinear");
}

TEST_CASE("calls that lack an input, or have a scale for each channel, are left to who reports them") {
  for (const char* call : {"QLinearWhere (c, x, s, z)", "QLinearWhere (c, x, s, z, y, , Z, S, Z)",
                           "QLinearAveragePool <kernel_shape = [2, 2]> (x, s)",
                           "QLinearAveragePool <kernel_shape = [2, 2]> (x, t, t0, S, Z)"})
    CHECK(test::declined(lower::qlinear, graph_of(call), 21, Target::kKernels) == "its scales are not one number each");
  CHECK(test::declined(lower::qlinear, graph_of("QLinearWhere (c, x, s, z, , S, Z, S, Z)"), 21, Target::kKernels) ==
        "its codes are not of one known type");
}

TEST_CASE("where the opset has no DequantizeLinear, or there is none of the standard's, codes stay codes") {
  Model model = test::fixture(graph_of("QLinearAveragePool <kernel_shape = [2, 2]> (x, s, z, S, Z)"));
  for (const int64_t opset : {9, 0}) {
    model.opsets = {{"com.microsoft", 1}};
    if (opset > 0) model.set_opset("", opset);
    const PassTally tally = run_pass(model, lower::qlinear, test::pass_context());
    CHECK(tally.applied == 0);
    CHECK(tally.declined.count("DequantizeLinear needs opset 10") == 1);
  }
}

TEST_CASE("what the standard's operator of the model's opset does not mean stays") {
  for (const char* call : {"QLinearAveragePool <kernel_shape = [2, 2], channels_last = 1> (x, s, z, S, Z)",
                           "QLinearSoftmax <axis = 1, opset = 11> (x, s, z, S, Z)"})
    CHECK(test::declined(lower::qlinear, graph_of(call), 21, Target::kKernels) ==
          "the standard's operator is another one");
}
