#include "backends/cpu/prepare/prepare.h"
#include "backends/reference/backend.h"
#include "tests/support/catch.h"
#include "tests/support/net.h"

namespace mlopt::test {

TEST_CASE("stored weights of float operators are unpacked once") {
  Net net;
  net.output(net.conv(net.input({1, 3, 6, 6}), 3, 4));
  REQUIRE(prepared_ops(net.model) == "Conv 1");
  require_same_result(net.model, 1e-5);
}

TEST_CASE("unpacking leaves outputs and what is computed alone") {
  Net net;
  Value* w = net.weights({4, 3}, 0);
  net.output(w);
  net.output(net.op("Add", {net.dequantize(net.quantize(net.input({4, 3}), 0.01, 128), 0.01, 128), w}));
  REQUIRE(prepared_ops(net.model) == "Add 1, DequantizeLinear 2, QuantizeLinear 1");
  require_same_result(net.model, 1e-5);
}

TEST_CASE("constants that a body computes are computed once") {
  Net net;
  Value* x = net.input({3, 4});
  Value* w = net.constant(uniform({4, 6}, -1, 1));
  const auto branch = [&](const char* attr, double column) {
    auto body = std::make_shared<Graph>();
    const std::string name = net.graph().fresh_name(attr);
    Value* index = body->add_constant(name + "_index", tensor({1}, {column}, DType::kI64));
    Value* picked = body->add_op("Gather", {w, index}, {{"axis", int64_t{1}, ""}}, nullptr, name)->output(0);
    Value* both = body->add_op("Concat", {picked, w}, {{"axis", int64_t{1}, ""}}, nullptr, name)->output(0);
    body->add_output(body->add_op("MatMul", {x, both}, {}, nullptr, name)->output(0));
    return Attr{attr, GraphPtr(std::move(body)), ""};
  };
  Value* sum = net.op("ReduceSum", {x}, {{"keepdims", int64_t{0}, ""}});
  Value* condition = net.op("Greater", {sum, net.constant(tensor({}, {1e9}))});
  net.output(net.op("If", {condition}, {branch("then_branch", 99), branch("else_branch", 2)}));
  require_same_result(net.model, 1e-5);
  cpu::prepare(
      net.model, [](const Model& constants) { return reference_backend()->compile(constants, {})->run({}); },
      Precision::kF32);
  const std::vector<Graph*> bodies = net.graph().nodes().back()->bodies();
  REQUIRE(bodies.front()->node_count() == 3);  // what cannot be computed is left to a run that never comes
  REQUIRE(bodies.back()->node_count() == 1);
}

}  // namespace mlopt::test
