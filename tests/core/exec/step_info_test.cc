#include "core/exec/step_info.h"

#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;

namespace {

StepInfo info_of(const std::string& graph) {
  const Model model = test::fixture(graph);
  const Node& last = *model.graph->nodes().back();
  return step_info(NodeView(last, model.opset(last.domain)), "kernel");
}

}  // namespace

TEST_CASE("what a step computes and moves follows from its shapes") {
  const StepInfo conv = info_of(R"(g (float[1,3,8,8] x, float[4,3,3,3] w) => (float[1,4,6,6] y) { y = Conv (x, w) })");
  CHECK(conv.macs == 4 * 6 * 6 * 3 * 3 * 3);
  CHECK(conv.bytes == 4 * (3 * 8 * 8 + 4 * 3 * 3 * 3 + 4 * 6 * 6));
  CHECK(conv.nodes == std::vector<std::string>{"Conv giving 'y'"});
  CHECK_FALSE(conv.integer);
  const StepInfo square = info_of("g (float[5] x) => (float[5] y) { y = Mul (x, x) }");
  CHECK(square.macs == 0);
  CHECK(square.bytes == 2 * 5 * 4);
  const StepInfo rows = info_of("g (float[1000,8] x, int64[2] i) => (float[2,8] y) { y = Gather (x, i) }");
  CHECK(rows.bytes == 2 * 8 * 4 + 2 * 8 + 2 * 8 * 4);  // it reads no more than it writes
  const StepInfo unknown = info_of("g (float[N] x) => (float[N] y) { y = Neg (x) }");
  CHECK_FALSE(unknown.bytes);
  CHECK(unknown.layout.empty());
  const StepInfo bytes = info_of("g (uint8[2,3] a, int8[3,4] b) => (int32[2,4] y) { y = MatMulInteger (a, b) }");
  CHECK(bytes.integer);
  CHECK(bytes.macs == 2 * 3 * 4);
}

TEST_CASE("layouts have names") {
  CHECK(layout_name({DType::kF32, {1, 2, 3, 4}, Layout::kChannelsLast}) == "nhwc");
  CHECK(layout_name({DType::kF32, {1, 2, 3}, Layout::kChannelsLast}) == "nwc");
  CHECK(layout_name({DType::kF32, {1, 2, 3, 4, 5}, Layout::kChannelsLast}) == "ndhwc");
  CHECK(layout_name({DType::kF32, {1, 2, 3, 4}}) == "row-major");
}
