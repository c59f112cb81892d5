#include "quantize/emit/half.h"

#include <cmath>

#include "core/ir/infer.h"
#include "core/onnx/infer.h"
#include "core/onnx/io.h"
#include "core/onnx/tools.h"
#include "core/tensor/cast.h"
#include "tests/support/catch.h"
#include "tests/support/net.h"

namespace mlopt::quantize {
namespace {

using test::Net;

struct Outcome {
  Model model;
  Emitted done;
  Difference difference;
};

Outcome emitted(const Model& source, const char* spec = "fp16") {
  Outcome out{clone(source), {}, {}};
  infer(out.model, standard_types);
  const Model before = clone(out.model);
  out.done = emit_half(out.model, parse_spec(spec));
  infer(out.model, standard_types);
  out.difference = test::changed_by(before, out.model);
  return out;
}

DType type_of(const Model& model, const std::string& op, int input = 0) {
  for (const Node* node : model.graph->nodes())
    if (node->op == op) return node->input(input)->type.dtype;
  return DType::kUndefined;
}

Value* weight(Net& net, const Dims& dims) { return net.constant(test::uniform(dims, -0.5, 0.5)); }

Value* scalar(Net& net, float x) { return net.constant(Tensor::scalar(x)); }

}  // namespace

TEST_CASE("inner values become float16 between the model's own inputs and outputs") {
  Net net;
  Value* x = net.input({1, 3, 8, 8});
  Value* y = net.op("Relu", {net.op("Conv", {x, weight(net, {4, 3, 3, 3}), weight(net, {4})})});
  net.output(y);
  net.output(net.op("GlobalAveragePool", {y}));
  const Outcome out = emitted(net.model);
  REQUIRE(test::listed_ops(out.model) == "Cast 3, Conv 1, GlobalAveragePool 1, Relu 1");
  REQUIRE(type_of(out.model, "Conv") == DType::kF16);
  REQUIRE(type_of(out.model, "Conv", 1) == DType::kF16);
  REQUIRE(out.done.layers.size() == 1);
  REQUIRE(out.difference.sqnr_db > 50);
  REQUIRE(out.difference.max_abs > 0);
}

TEST_CASE("an operator without a float16 form stays float32, with Casts around it") {
  Net net;
  Value* x = net.op("Mul", {net.input({1, 2, 4, 4}), weight(net, {1, 2, 1, 1})});
  Value* wide = net.op("Resize", {x, nullptr, net.constant(Tensor::of<float>({4}, {1, 1, 2, 2}))},
                       {{"mode", std::string("linear"), ""}});
  net.output(net.op("Sigmoid", {wide}));
  const Outcome out = emitted(net.model);
  REQUIRE(type_of(out.model, "Resize") == DType::kF32);
  REQUIRE(type_of(out.model, "Resize", 2) == DType::kF32);
  REQUIRE(type_of(out.model, "Sigmoid") == DType::kF16);
  REQUIRE(out.done.left.size() == 1);
  REQUIRE(out.difference.sqnr_db > 50);
}

TEST_CASE("operators whose definition is in float32 stay float32") {
  for (const char* op : {"Celu", "MeanVarianceNormalization", "IsInf"}) {
    Net net;
    Value* x = net.op("Mul", {net.input({2, 3, 4, 4}), weight(net, {1, 3, 1, 1})});
    net.output(net.op(op, {x}));
    net.output(x);
    INFO(op);
    REQUIRE(type_of(emitted(net.model).model, op) == DType::kF32);
    REQUIRE(type_of(emitted(net.model).model, "Mul") == DType::kF16);
  }
}

TEST_CASE("what makes float32 of something else, or states it, goes on doing so") {
  Net net;
  net.graph().name = "g";
  Node* constant = net.graph().add_op("Constant", {}, {{"value", test::uniform({3}, -0.5, 0.5), ""}});
  constant->output(0)->constant = std::get<Tensor>(constant->attr("value")->value);
  constant->output(0)->type = Type::tensor(DType::kF32, Dims{3});
  net.output(net.op("Mul", {net.input({2, 3}), constant->output(0)}));
  net.output(net.op("HannWindow", {net.constant(Tensor::scalar(int64_t{5}))}));
  net.output(constant->output(0));
  const Outcome out = emitted(net.model);
  REQUIRE(type_of(out.model, "Mul", 1) == DType::kF16);
  for (const Value* y : out.model.graph->outputs()) REQUIRE(y->type.dtype == DType::kF32);
  const std::vector<std::string> errors = check_with_onnx(out.model).errors;
  CAPTURE(errors);
  REQUIRE(errors.empty());
  REQUIRE(out.difference.sqnr_db > 50);
}

TEST_CASE("squares and sums that overflow float16 are computed in float32") {
  Net net;
  Value* x = net.op("Mul", {net.input({4, 64}), scalar(net, 5000)});
  Value* square = net.op("Pow", {x, scalar(net, 2)});
  Value* mean = net.op("ReduceMean", {square, net.constant(Tensor::ints({1}))});
  net.output(net.op("Mul", {net.op("Sqrt", {net.op("Mul", {mean, scalar(net, 1e-3f)})}), scalar(net, 0.1f)}));
  const Outcome out = emitted(net.model);
  REQUIRE(type_of(out.model, "Pow") == DType::kF32);
  REQUIRE(type_of(out.model, "ReduceMean") == DType::kF32);
  REQUIRE(type_of(out.model, "Sqrt") == DType::kF32);
  REQUIRE(out.difference.sqnr_db > 50);
}

TEST_CASE("a small epsilon does not become zero, and a huge mask does not become infinite") {
  Net net;
  Value* x = net.input({2, 8});
  Value* nothing = net.op("Sub", {x, x});
  net.output(net.op("Div", {net.op("Add", {nothing, scalar(net, 1e-12f)}), scalar(net, 0.5f)}));
  net.output(net.op("Softmax", {net.op("Mul", {net.op("Abs", {x}), scalar(net, -1e30f)})}));
  Outcome out = emitted(net.model);
  for (const Value* v : out.model.graph->initializers()) {
    const double c = std::fabs(number_at(*v->constant, 0));
    REQUIRE(c > 0);
    REQUIRE(c <= 65504);
  }
}

TEST_CASE("what a batch normalization scales down from beyond float16 is computed in float32") {
  Net net;
  Value* large = net.op("Conv", {net.input({1, 2, 4, 4}), net.constant(test::uniform({2, 2, 1, 1}, 4e4, 5e4))});
  Value* mean = net.constant(Tensor::of<float>({2}, {6e4, 0}));
  Value* variance = net.constant(Tensor::of<float>({2}, {1e10, 1e4}));
  Value* scale = net.constant(Tensor::of<float>({2}, {1, 1}));
  net.output(net.op("BatchNormalization", {large, scale, scale, mean, variance}));
  const Outcome out = emitted(net.model);
  REQUIRE(type_of(out.model, "Conv") == DType::kF32);
  REQUIRE_FALSE(out.difference.lost_numbers);
  REQUIRE(out.difference.sqnr_db > 50);
}

TEST_CASE("a constant that does not fit keeps its node in float32") {
  Net net;
  Value* x = net.op("Mul", {net.input({2, 8}), scalar(net, 1e5f)});
  net.output(net.op("Mul", {x, scalar(net, 1e-4f)}));
  const Outcome out = emitted(net.model);
  REQUIRE(out.done.left.size() == 1);
  REQUIRE(out.done.left.begin()->second.find("does not fit") != std::string::npos);
}

TEST_CASE("what is made of positions stays float32 until it meets activations") {
  Net net;
  Value* ids = net.graph().add_input("ids", Type::tensor(DType::kI64, Dims{1, 64}));
  Value* at =
      net.op("Cast", {net.op("Mul", {ids, net.constant(Tensor::scalar<int64_t>(500))})}, {{"to", int64_t{1}, ""}});
  Value* angle = net.op("Mul", {at, scalar(net, 0.37f)});
  net.output(net.op("Mul", {net.op("Cos", {angle}), net.op("Relu", {net.input({1, 64})})}));
  const Outcome out = emitted(net.model);
  REQUIRE(type_of(out.model, "Cos") == DType::kF32);
  REQUIRE(type_of(out.model, "Relu") == DType::kF16);
  REQUIRE(out.difference.sqnr_db > 50);
}

TEST_CASE("operators of other domains stay float32, what reads them does not") {
  Net net;
  net.model.set_opset("com.microsoft", 1);
  Value* x = net.input({1, 4, 6, 6});
  Value* fused =
      net.graph().add_op("FusedMatMul", {x, weight(net, {6, 6})}, {}, nullptr, "fused", 1, "com.microsoft")->output(0);
  net.output(net.op("Conv", {fused, weight(net, {2, 4, 1, 1})}));
  const Outcome out = emitted(net.model);
  REQUIRE(type_of(out.model, "FusedMatMul") == DType::kF32);
  REQUIRE(type_of(out.model, "Conv") == DType::kF16);
  REQUIRE(out.difference.sqnr_db > 50);
}

TEST_CASE("values of unknown type stay float32") {
  Net net;
  net.model.set_opset("com.microsoft", 1);
  Value* x = net.input({1, 4, 6, 6});
  Value* untyped = net.graph()  // an old name of FusedMatMul, of which nothing is inferred
                       .add_op("TransposeMatMul", {x, weight(net, {6, 6})}, {}, nullptr, "old", 1, "com.microsoft")
                       ->output(0);
  net.output(net.op("Conv", {untyped, weight(net, {2, 4, 1, 1})}));
  const Outcome out = emitted(net.model);
  REQUIRE(type_of(out.model, "Conv", 1) == DType::kF32);
  REQUIRE(out.difference.max_abs == 0);
}

TEST_CASE("bodies read float32, whatever made the values that they capture") {
  const Model source = parse_text(R"(
<ir_version: 10, opset_import: ["" : 21]>
branches (bool[1] c, float[2,3] x) => (float[2,3] y)
<float[2,3] w = {1,2,3,4,5,6}>
{
  scaled = Mul (x, w)
  picked = If (c) <then_branch = once () => (float[2,3] a) { a = Add (scaled, scaled) },
                   else_branch = never () => (float[2,3] b) { b = Neg (scaled) }>
  y = Relu (picked)
})");
  const Outcome out = emitted(source);
  REQUIRE(type_of(out.model, "Mul") == DType::kF16);
  REQUIRE(out.difference.sqnr_db > 50);
}

}  // namespace mlopt::quantize
