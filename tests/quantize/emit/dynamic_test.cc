#include "quantize/emit/dynamic.h"

#include <algorithm>
#include <span>

#include "core/ir/infer.h"
#include "tests/support/catch.h"
#include "tests/support/net.h"

namespace mlopt::quantize {
namespace {

using test::Net;

Value* weight(Net& net, const Dims& dims) {
  return net.constant(test::uniform(dims, -0.3, 0.3, DType::kF32, net.graph().node_count() + 3));
}

struct Outcome {
  Model model;
  Emitted done;
  double sqnr_db;
};

Outcome emitted(const Net& net, const char* spec = "w8a8-dynamic") {
  Outcome out{clone(net.model), {}, 0};
  infer(out.model);
  const Model before = clone(out.model);
  out.done = emit_dynamic(out.model, parse_spec(spec));
  out.sqnr_db = test::changed_by(before, out.model).sqnr_db;
  return out;
}

/// Two products of one activation, then a Gemm with transposed weights and a bias.
Net perceptron() {
  Net net;
  Value* x = net.input({5, 32});
  Value* a = net.op("MatMul", {x, weight(net, {32, 24})});
  Value* b = net.op("Add", {net.op("MatMul", {x, weight(net, {32, 24})}), weight(net, {24})});
  Value* h = net.op("Tanh", {net.op("Add", {a, b})});
  net.output(net.op("Gemm", {h, weight(net, {16, 24}), weight(net, {16})}, {{"transB", int64_t{1}, ""}}));
  net.graph().outputs()[0]->producer->name = "last";
  return net;
}

}  // namespace

TEST_CASE("products run on integers, and those of one activation share its codes") {
  const Outcome out = emitted(perceptron());
  REQUIRE(test::listed_ops(out.model) == "Add 3, Cast 3, DynamicQuantizeLinear 2, MatMulInteger 3, Mul 6, Tanh 1");
  REQUIRE(out.sqnr_db > 30);
  REQUIRE(out.done.layers.size() == 3);
  REQUIRE(out.done.left.empty());
  // The CPU backend takes each product and its scaling as one operator.
  REQUIRE(out.model.graph->outputs()[0]->producer->name == "last");
  REQUIRE(test::prepared_ops(out.model) == "Add 1, DynamicQuantizeLinear 2, MatMulIntegerToFloat 3, Tanh 1");
  test::require_same_result(out.model, 1e-4);
}

TEST_CASE("products that share a weight share its codes") {
  for (const char* spec : {"w8a8-dynamic", "w8a8-dynamic:per_token"}) {
    Net net;
    Value* w = weight(net, {24, 24});
    Value* h = net.op("Tanh", {net.op("MatMul", {net.input({5, 24}), w})});
    Value* rows = net.op("Gemm", {h, w}, {{"transB", int64_t{1}, ""}});  // scales along the other axis
    net.output(net.op("Add", {net.op("MatMul", {h, w}), rows}));
    const Outcome out = emitted(net, spec);
    CHECK(out.done.layers.size() == 3);
    CHECK(out.done.weights.size() == 2);
    CHECK(out.sqnr_db > 30);
    int stored = 0;
    for (const Value* v : out.model.graph->initializers()) stored += v->constant->size() == 24 * 24;
    CHECK(stored == 2);
  }
}

TEST_CASE("one scale for a weight is coarser than one for each column") {
  Net net;
  Tensor w = test::uniform({32, 24}, -0.3, 0.3);
  for (int64_t i = 0; i < w.size(); ++i) w.mutable_data<float>()[i] *= i % 24 == 0 ? 30.0f : 1.0f;
  Value* y = net.op("MatMul", {net.input({5, 32}), net.constant(w)});
  net.output(net.op("Mul", {y, net.constant(test::tensor({24}, [] {
                              std::vector<double> factors(24, 1);
                              factors[0] = 0;
                              return factors;
                            }()))}));
  REQUIRE(emitted(net).sqnr_db > emitted(net, "w8a8-dynamic:per_tensor").sqnr_db + 10);
}

TEST_CASE("each token has a scale of its own, so that a large one takes nothing from the others") {
  for (const int64_t opset : {17, 21}) {
    Net net;
    net.model.set_opset("", opset);
    Value* x = net.input({2, 5, 32});
    Tensor sizes = test::tensor({1, 5, 1}, {1, 1000, 1, 0, 1});
    Value* uneven = net.op("Mul", {x, net.constant(sizes)});
    Value* a = net.op("MatMul", {uneven, weight(net, {32, 24})});
    Value* b = net.op("MatMul", {uneven, weight(net, {32, 24})});
    Value* y = net.op("Add", {net.op("Add", {a, b}), weight(net, {24})});
    for (float& size : std::span(sizes.mutable_data<float>(), 5)) size = size > 0 ? 1 / size : 1;
    net.output(net.op("Mul", {y, net.constant(sizes)}));
    const Outcome whole = emitted(net), tokens = emitted(net, "w8a8-dynamic:per_token");
    CHECK(test::listed_ops(tokens.model) ==
          "Abs 1, Add 2, Cast 2, Div 1, MatMulInteger 2, Max 1, Mul 6, QuantizeLinear 1, ReduceMax 1");
    CHECK(whole.sqnr_db < 10);
    CHECK(tokens.sqnr_db > 35);
    test::require_same_result(tokens.model, 1e-4);
  }
}

TEST_CASE("what is left in float is said") {
  Net net;
  Value* x = net.input({1, 16, 4, 4});
  Value* y = net.op("Conv", {x, weight(net, {16, 16, 1, 1})});
  Value* row = net.op("Flatten", {y});
  Value* a = net.op("MatMul", {row, weight(net, {256, 20})});
  a->producer->name = "/head/first";
  Value* b = net.op("MatMul", {a, weight(net, {20, 3})});
  net.output(b);
  const Outcome out = emitted(net, "w8a8-dynamic:skip=/head/*");
  REQUIRE(test::listed_ops(out.model) == "Conv 1, Flatten 1, MatMul 2");
  std::vector<std::string> reasons;
  for (const auto& [node, reason] : out.done.left) reasons.push_back(reason);
  REQUIRE(reasons.size() == 3);
  const auto said = [&](const char* part) {
    return std::any_of(reasons.begin(), reasons.end(),
                       [&](const std::string& r) { return r.find(part) != std::string::npos; });
  };
  REQUIRE(said("dynamic convolution"));
  REQUIRE(said("--skip"));
  REQUIRE(said("too small"));
}

}  // namespace mlopt::quantize
