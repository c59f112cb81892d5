#include "core/rewrite/lower/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;

namespace {

Model model(const std::string& type, const std::string& call) {
  Model made = test::fixture(
      "g (" + type + "[2,5,6] x, " + type + "[6] B) => (" + type + "[2,5,6] y) { y = com.microsoft." + call + " }", 17);
  made.set_opset("com.microsoft", 1);
  return made;
}

std::string lowered(const std::string& call) {
  return test::rewritten(lower::contrib_gelu, model("float", call), 1e-6, Target::kKernels);
}

}  // namespace

TEST_CASE("what ONNX Runtime has in one operator is a sum and its GELU") {
  CHECK(lowered("BiasGelu (x, B)") == "Add Gelu");
  CHECK(lowered("FastGelu (x, B)") == "Add Gelu");
  CHECK(lowered("FastGelu (x)") == "Gelu");
}

TEST_CASE("in other types, and of nothing, GELU stays one operator") {
  PassContext context;
  context.target = Target::kKernels;
  for (const auto& [type, call] :
       {std::pair("double", "BiasGelu (x, B)"), {"float", "BiasGelu ()"}, {"float", "FastGelu ()"}}) {
    Model source = model(type, call);
    infer(source);
    CHECK(run_pass(source, lower::contrib_gelu, context).applied == 0);
  }
}
