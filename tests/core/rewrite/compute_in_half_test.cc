#include "core/rewrite/compute_in_half.h"

#include "core/ir/infer.h"
#include "core/onnx/infer.h"
#include "tests/support/catch.h"
#include "tests/support/net.h"
#include "tests/support/rewrite.h"

namespace mlopt::test {
namespace {

std::string nothing(const Node&) { return {}; }

DType type_of(const Model& model, std::string_view op, int input = 0) {
  for (const Node* node : model.graph->nodes())
    if (node->op == op) return node->input(input)->type.dtype;
  return DType::kUndefined;
}

Model inferred(const Net& net) {
  Model model = clone(net.model);
  infer(model, standard_types);
  return model;
}

}  // namespace

TEST_CASE("bfloat16 holds what float16 cannot, but no positions") {
  Net net;
  Value* x = net.op("Exp", {net.op("Mul", {net.input({2, 3}), net.constant(Tensor::scalar(1e5f))})});
  Value* at =
      net.op("Cast", {net.graph().add_input("at", Type::tensor(DType::kI64, Dims{3}))}, {{"to", int64_t{1}, {}}});
  net.output(net.op("Add", {x, net.op("Cos", {at})}));
  for (const DType type : {DType::kF16, DType::kBF16}) {
    Model model = inferred(net);
    const ComputedInHalf done = compute_in_half(model, {.type = type, .why_float = nothing});
    CHECK(type_of(model, "Cos") == DType::kF32);
    for (const char* op : {"Mul", "Exp", "Add"})
      CHECK(type_of(model, op) == (type == DType::kBF16 ? type : DType::kF32));
    CHECK(done.left.size() == (type == DType::kBF16 ? 2 : 5));
    CHECK(model.graph->outputs()[0]->type.dtype == DType::kF32);
  }
}

TEST_CASE("inputs that stay float32, means summed in float32, and constants rounded by others") {
  Net net;
  Value* c = net.constant(Tensor::of<float>({3}, {1, 2, 3}));
  Value* x = net.op("Mul", {net.input({1, 3, 4, 4}), net.constant(Tensor::scalar(0.5f))});
  Value* y = net.op("BatchNormalization", {x, c, c, c, c});
  net.output(net.op("ReduceMean", {y, net.constant(Tensor::ints({2, 3}))}));
  int rounded = 0;
  Model model = inferred(net);
  compute_in_half(model, {.why_float = nothing,
                          .keeps_input = [](const Node& n, size_t i) { return n.op == "BatchNormalization" && i > 0; },
                          .sums_in_float32 = true,
                          .round =
                              [&](const Tensor&) {
                                ++rounded;
                                return Tensor::scalar(Half{0x3800});
                              }});
  CHECK(type_of(model, "BatchNormalization") == DType::kF16);
  CHECK(type_of(model, "BatchNormalization", 1) == DType::kF32);
  CHECK(type_of(model, "ReduceMean") == DType::kF16);
  CHECK(rounded == 1);
}

TEST_CASE("sums of products of integers stay float32 until they are scaled") {
  Model model = fixture(R"(g (float[N,4] x) => (float[N,3] y)
      <int8[4,3] w = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, float s = {0.001}, float[3] b = {1, 2, 3}> {
    q, a, z = DynamicQuantizeLinear (x)  i = MatMulInteger (q, w, z)  f = Cast <to = 1> (i)  c = Mul (a, s)
    p = Mul (f, c)  y = Add (p, b) })");
  infer(model, standard_types);
  const ComputedInHalf done = compute_in_half(model, {.why_float = nothing});
  std::vector<DType> products;
  for (const Node* node : model.graph->nodes())
    if (node->op == "Mul") products.push_back(node->output(0)->type.dtype);
  CHECK(products == std::vector<DType>{DType::kF32, DType::kF32});
  CHECK(type_of(model, "DynamicQuantizeLinear") == DType::kF32);
  CHECK(type_of(model, "Add") == DType::kF16);
}

}  // namespace mlopt::test
