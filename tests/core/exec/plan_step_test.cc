#include "core/exec/plan_step.h"

#include "core/base/error.h"
#include "core/onnx/io.h"
#include "tests/support/catch.h"

using namespace mlopt;

namespace {

Expected<PlannedStep> plan_relu(const Site& site) { return PlannedStep{.out = {site.desc(0)}}; }
Expected<PlannedStep> decline(const Site&) { return Decline{"never"}; }
Expected<PlannedStep> refuse(const Site&) { input_error("no such axis", "7"); }

}  // namespace

TEST_CASE("a plan is asked only where the first input is there") {
  const Model model =
      parse_text("<ir_version: 10, opset_import: [\"\" : 21]> main (float[2] x) => (y) { y = Relu (x) }");
  const CompileContext context;
  const NodeView view(*model.graph->nodes().front(), 21);
  const Site whole{view, {TensorDesc{DType::kF32, {2}}}, Layout::kRowMajor, context};
  REQUIRE(plan_step(plan_relu, whole));
  CHECK(plan_step(plan_relu, whole)->out[0].dims == Dims{2});
  CHECK(plan_step(decline, whole).error().reason == "never");
  CHECK(plan_step(plan_relu, {view, {}, Layout::kRowMajor, context}).error().reason == "input 0 is missing");
  CHECK_FALSE(plan_step(plan_relu, {view, {std::nullopt}, Layout::kRowMajor, context}));
  REQUIRE_THROWS_WITH(plan_step(refuse, whole), Catch::Contains("no such axis: Relu giving 'y' (7)"));
}
