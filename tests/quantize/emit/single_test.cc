#include "quantize/emit/single.h"

#include "core/base/error.h"
#include "core/ir/verify.h"
#include "core/onnx/infer.h"
#include "core/onnx/io.h"
#include "tests/support/catch.h"

namespace mlopt {
namespace {

Model widened(const char* text) {
  Model model = parse_text(text);
  infer(model, standard_types);
  quantize::emit_single(model);
  CHECK(verify(model).empty());
  return model;
}

/// Does anything but the interface still hold float16?
bool has_half_inside(const Model& model) {
  for (const Value* value : model.graph->values()) {
    const bool outside = value->is_input || value->is_output();
    if (!outside && value->type.is_tensor() && value->type.dtype == DType::kF16) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("float16 inside becomes float32, and inputs and outputs keep it") {
  const Model model = widened(R"(<ir_version: 10, opset_import: ["" : 21]>
      g (float16[2] x) => (float16[2] y, float16[2] z) <float16[2] w = {1, 2}> {
        a = Mul (x, w)
        y = Exp (a)
        z = Add (y, a)
      })");
  CHECK_FALSE(has_half_inside(model));
  const std::vector<Value*> outputs = model.graph->outputs();
  CHECK(outputs[0]->name == "y");
  CHECK(outputs[1]->name == "z");
  for (const Value* output : outputs) {
    CHECK(output->type.dtype == DType::kF16);
    REQUIRE(output->producer);
    CHECK(output->producer->is("Cast"));
  }
  CHECK(model.graph->inputs()[0]->type.dtype == DType::kF16);
  CHECK(model.graph->node_count() == 6);  // three, and a Cast at each end
}

TEST_CASE("attributes that name or hold float16 follow, and Casts that were needed go") {
  const Model model = widened(R"(<ir_version: 10, opset_import: ["" : 21]>
      g (float[2] x) => (float[2] y) {
        a = Cast <to = 10> (x)
        c = Constant <value = float16[2] {3, 4}> ()
        b = Add (a, c)
        y = Cast <to = 1> (b)
      })");
  CHECK_FALSE(has_half_inside(model));
  for (const Node* node : model.graph->nodes()) {
    if (node->is("Constant")) CHECK(std::get<Tensor>(node->attr("value")->value).dtype() == DType::kF32);
  }
  CHECK(model.graph->node_count() == 2);
  CHECK(model.graph->outputs()[0]->name == "y");
}

TEST_CASE("bodies are widened with what they capture") {
  const Model model = widened(R"(<ir_version: 10, opset_import: ["" : 21]>
      g (float16[2] x, bool c) => (float16[2] y) {
        a = Exp (x)
        y = If (c) <
          then_branch = t () => (float16[2] p) { p = Add (a, x) },
          else_branch = e () => (float16[2] q) { q = Identity (a) }
        >
      })");
  for (const Node* node : all_nodes(*model.graph)) {
    if (node->op != "Add") continue;
    for (const Value* input : node->inputs()) CHECK(input->type.dtype == DType::kF32);
  }
  CHECK(model.graph->outputs()[0]->type.dtype == DType::kF16);
}

TEST_CASE("an output that no Cast serves is refused") {
  Model model = parse_text(R"(<ir_version: 10, opset_import: ["" : 21]>
      g (float16[2] x) => (seq(float16[2]) y) { y = SequenceConstruct (x) })");
  infer(model, standard_types);
  CHECK_THROWS_AS(quantize::emit_single(model), Error);
}

}  // namespace mlopt
