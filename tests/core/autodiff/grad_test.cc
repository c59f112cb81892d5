#include "core/autodiff/grad.h"

#include "core/ir/verify.h"
#include "core/onnx/infer.h"
#include "tests/support/catch.h"
#include "tests/support/gradients.h"
#include "tests/support/net.h"
#include "tests/support/rewrite.h"
#include "tests/support/thrown.h"

namespace mlopt::test {
namespace {

Value* typed(Net& net, Value* value) {
  infer(net.model, *value->producer, standard_types);
  return value;
}

Value* total(Net& net, Value* x) { return typed(net, net.op("ReduceSum", {x}, {attr("keepdims", 0)})); }

}  // namespace

TEST_CASE("a value that is read twice gets the sum of both gradients") {
  Net net;
  Value* x = net.input({3});
  Value* square = typed(net, net.op("Mul", {x, x}));
  Value* loss = total(net, typed(net, net.op("Add", {square, x})));
  net.output(add_gradients(net.model, loss, std::vector{x}, standard_types)[0]);
  verify(net.model);
  const Tensor at = tensor({3}, {1, -2, 0.5});
  require_close(reference_outputs(net.model, {at})[0], tensor({3}, {3, -3, 2}));
}

TEST_CASE("what the loss does not depend on has no gradient") {
  Net net;
  Value* x = net.input({3});
  Value* aside = net.constant(real({3}));
  Value* steps = net.constant(tensor({3}, {1, 2, 3}));
  Value* flat = typed(net, net.op("Floor", {steps}));
  Value* loss = total(net, typed(net, net.op("Add", {x, flat})));
  const std::vector<Value*> grads = add_gradients(net.model, loss, std::vector{x, aside, steps}, standard_types);
  CHECK(grads[0] != nullptr);
  CHECK(grads[1] == nullptr);
  CHECK(grads[2] == nullptr);
}

TEST_CASE("an operator without a rule says which, where and what to freeze") {
  Net net;
  Value* weights = net.graph().add_constant("stem.weight", tensor({3}, {1, 2, 3}));
  Value* made = typed(net, net.op("Mul", {net.input({3}), weights}));
  Node* strange = net.graph().add_op("Hardmax", {made}, {}, nullptr, "odd");
  strange->name = "strange";
  infer(net.model, *strange, standard_types);
  Value* loss = total(net, strange->output(0));
  const Error error = thrown_by([&] { add_gradients(net.model, loss, std::vector{weights}, standard_types); });
  CHECK(error.code == Code::kUnsupported);
  CHECK(error.message == "no gradient rule for Hardmax");
  CHECK(error.where == "Hardmax 'strange'");
  CHECK(error.fix == "freeze what lies before it: --freeze 'stem.weight'");
}

TEST_CASE("what branches read is named where an If has no gradient") {
  Model model = fixture(R"(g (float[3] x, bool c, float[3] V, float[3] W) => (float y) {
    h = If (c) <then_branch = t () => (float[3] a) { a = Mul (x, V) }, else_branch = e () => (float[3] b) { b = Mul (x, W) }>
    y = ReduceSum <keepdims = 0> (h)
  })");
  infer(model, standard_types);
  const auto find = [&](const char* name) { return model.graph->find(name); };
  const Error error = thrown_by([&] {
    add_gradients(model, find("y"), std::vector{find("V"), find("W")}, standard_types);
  });
  CHECK(error.fix == "freeze what lies before it: --freeze 'V' --freeze 'W'");
}

TEST_CASE("an operator that nothing is known of is no silent end of the gradient") {
  Net net;
  Value* weights = net.constant(tensor({3}, {1, 2, 3}));
  Node* unknown = net.graph().add_op("Quant", {weights}, {}, nullptr, "odd", 1, "somewhere");
  Value* product = net.op("Mul", {net.input({3}), unknown->output(0)});
  product->type = Type::tensor(DType::kF32, Dims{3});
  Value* loss = total(net, product);
  const Error error = thrown_by([&] { add_gradients(net.model, loss, std::vector{weights}, standard_types); });
  CHECK(error.code == Code::kUnsupported);
}

TEST_CASE("a slice whose limits come from shape arithmetic is differentiated") {
  Net net;
  Value* x = net.input({4});
  Value* length = typed(net, net.op("Shape", {x}));
  Value* half = typed(net, net.op("Div", {length, net.constant(tensor({1}, {2}, DType::kI64))}));
  Value* loss = total(net, typed(net, net.op("Slice", {x, half, length})));
  net.output(add_gradients(net.model, loss, std::vector{x}, standard_types)[0]);
  require_close(reference_outputs(net.model, {tensor({4}, {1, 2, 3, 4})})[0], tensor({4}, {0, 0, 1, 1}));
}

TEST_CASE("only what lies between the trained values and the loss is differentiated") {
  Net net;
  Value* fixed = typed(net, net.op("Hardmax", {net.input({3})}));
  Value* weights = net.constant(tensor({3}, {1, 2, 3}));
  Value* loss = total(net, typed(net, net.op("Mul", {fixed, weights})));
  net.output(add_gradients(net.model, loss, std::vector{weights}, standard_types)[0]);
  require_close(reference_outputs(net.model, {tensor({3}, {1, 5, 2})})[0], tensor({3}, {0, 1, 0}));
}

}  // namespace mlopt::test
