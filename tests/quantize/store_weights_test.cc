#include "quantize/store_weights.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/text.h"
#include "core/ir/infer.h"
#include "core/tensor/cast.h"
#include "tests/support/catch.h"
#include "tests/support/net.h"

namespace mlopt::quantize {
namespace {

using test::Net;

Value* weight(Net& net, const Dims& dims) {
  return net.constant(test::uniform(dims, -0.3, 0.3, DType::kF32, net.graph().node_count() + 3));
}

int64_t weight_bytes(const Model& model) {
  size_t bytes = 0;
  for (const Value* v : model.graph->initializers()) bytes += v->constant->bytes();
  return static_cast<int64_t>(bytes);
}

/// A table, a convolution, a matrix product and a Gemm with transposed weights.
Net mixed() {
  Net net;
  Value* ids = net.graph().add_input("ids", Type::tensor(DType::kI64, Dims{1, 8}));
  Value* table = net.op("Gather", {weight(net, {50, 32}), ids});
  Value* x = net.op("Transpose", {table}, {{"perm", std::vector<int64_t>{0, 2, 1}, ""}});
  x = net.op("Conv", {x, weight(net, {48, 32, 3}), weight(net, {48})});
  x = net.op("Transpose", {x}, {{"perm", std::vector<int64_t>{0, 2, 1}, ""}});
  x = net.op("MatMul", {x, weight(net, {48, 64})});
  x = net.op("Reshape", {x, net.constant(Tensor::ints({6, 64}))});
  net.output(net.op("Gemm", {x, weight(net, {40, 64}), weight(net, {40})}, {{"transB", int64_t{1}, ""}}));
  return net;
}

}  // namespace

TEST_CASE("weights are stored in a quarter of their size, with a scale for each output channel") {
  Net net = mixed();
  infer(net.model);
  Model model = clone(net.model);
  const Emitted done = store_weights(model, parse_spec("w8:target=onnx"), {});
  REQUIRE(done.layers.size() == 4);
  REQUIRE(test::changed_by(net.model, model).sqnr_db > 35);
  REQUIRE(weight_bytes(model) < 0.31 * static_cast<double>(weight_bytes(net.model)));
  std::vector<int64_t> scales;
  for (const Node* node : model.graph->nodes())
    if (node->op == "DequantizeLinear") scales.push_back(node->input(1)->constant->size());
  std::sort(scales.begin(), scales.end());
  REQUIRE(scales == std::vector<int64_t>{40, 48, 50, 64});
}

TEST_CASE("what reads a weight in other ways reads the same numbers") {
  Net net;
  Value* ids = net.graph().add_input("ids", Type::tensor(DType::kI64, Dims{4}));
  Value* w = weight(net, {40, 32});
  Value* x = net.op("Gather", {w, ids});
  net.output(net.op("Gemm", {x, w}, {{"transB", int64_t{1}, ""}}));
  Value* y = net.op("MatMul", {net.constant(test::uniform({2, 40}, -1, 1)), w});
  net.output(y);
  infer(net.model);
  for (const char* spec : {"w8:target=onnx", "w8", "w4g16"}) {  // MatMulNBits would leave the table as it was
    Model model = clone(net.model);
    const Emitted done = store_weights(model, parse_spec(spec), {});
    REQUIRE(done.weights.size() == 1);
    CHECK(done.weights[0].form == (std::string(spec) == "w8:target=onnx" ? "qdq" : "gather"));
    CHECK(weight_bytes(model) < 0.35 * static_cast<double>(weight_bytes(net.model)));
    REQUIRE(test::changed_by(net.model, model).sqnr_db > 15);
  }
}

TEST_CASE("recurrent layers store both of their weights") {
  Net net;
  Value* x = net.input({3, 2, 16});
  Node* lstm = net.graph().add_op("LSTM", {x, weight(net, {1, 128, 16}), weight(net, {1, 128, 32})},
                                  {{"hidden_size", int64_t{32}, ""}}, nullptr, "lstm", 2);
  net.output(lstm->output(1));
  net.graph().drop_output(lstm, 0);
  infer(net.model);
  Model model = clone(net.model);
  const Emitted done = store_weights(model, parse_spec("w8:emit=qdq"), {});
  REQUIRE(done.layers.size() == 1);
  REQUIRE(test::listed_ops(model) == "DequantizeLinear 2, LSTM 1");
  REQUIRE(test::changed_by(net.model, model).sqnr_db > 35);
}

TEST_CASE("small weights and excluded layers keep theirs") {
  Net net;
  Value* x = net.op("MatMul", {net.input({2, 16}), weight(net, {16, 16})});
  x = net.op("MatMul", {x, weight(net, {16, 128})});
  x->producer->name = "head";
  net.output(x);
  infer(net.model);
  Model model = clone(net.model);
  const Emitted done = store_weights(model, parse_spec("w8:skip=head"), {});
  REQUIRE(done.layers.empty());
  REQUIRE(done.left.size() == 2);
  REQUIRE(test::changed_by(net.model, model).max_abs == 0);
}

TEST_CASE("the bits of a format are what its weights' accuracy is for") {
  Net net = mixed();
  infer(net.model);
  double before = 60;
  for (const char* spec : {"w8", "w7", "w6", "w5", "w4", "w3", "w2"}) {
    Model model = clone(net.model);
    const Emitted done = store_weights(model, parse_spec(spec), {});
    REQUIRE(done.weights.size() == 4);
    const double db = done.weights[1].sqnr_db;
    INFO(spec);
    CHECK(db < before - 3);  // 6 for each bit
    CHECK(db > before - 15);
    before = db;
  }
}

TEST_CASE("the opset that forms need is that of the formats and layers that are there") {
  Net net = mixed();
  infer(net.model);
  CHECK(opset_of_weights(net.model, parse_spec("w8")) == 13);
  CHECK(opset_of_weights(net.model, parse_spec("w4g32:target=onnx")) == 21);
  CHECK(opset_of_weights(net.model, parse_spec("w4g32")) == 13);
  CHECK(opset_of_weights(net.model, parse_spec("fp8e4m3")) == 19);
  CHECK(opset_of_weights(net.model, parse_spec("w4:emit=fake")) == 1);
}

TEST_CASE("weights of zeros, infinities and NaN are stored all the same") {
  for (const float odd : {0.0f, std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
    Net net;
    Value* w = weight(net, {64, 32});
    for (int64_t i = 0; i < 64; ++i) w->constant->mutable_data<float>()[i * 32] = odd;
    net.output(net.op("MatMul", {net.input({2, 64}), w}));
    infer(net.model);
    for (const char* spec : {"w4g32", "w8", "nf4", "codebook2", "w3"}) {
      Model model = clone(net.model);
      store_weights(model, parse_spec(spec), {});
      for (const Value* v : model.graph->initializers())
        if (v->constant->dtype() == DType::kF32 && ends_with(v->name, "scale"))
          for (const float s : to_floats(*v->constant)) CHECK((std::isnormal(s) && s > 0));
    }
  }
}

}  // namespace mlopt::quantize
