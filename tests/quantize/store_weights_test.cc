#include "quantize/store_weights.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "backends/reference/backend.h"
#include "core/ir/infer.h"
#include "core/onnx/tools.h"
#include "core/tensor/cast.h"
#include "core/tensor/compare.h"
#include "quantize/encode_weight.h"
#include "tests/support/catch.h"
#include "tests/support/memory_data.h"
#include "tests/support/net.h"
#include "tests/support/rewrite.h"

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
        if (v->constant->dtype() == DType::kF32 && v->name.ends_with("scale"))
          for (const float s : to_floats(*v->constant)) CHECK((std::isnormal(s) && s > 0));
    }
  }
}

TEST_CASE("layer by layer, each weight is stored by what layers that were stored before give it, as if run anew") {
  const Model model = test::fixture(R"(g (float[N,32] x, float[32,48] U, float[48,32] D, float[32,40] V, float[40,32] E)
                                           => (float[N,32] y) {
    u = MatMul (x, U)
    r = Tanh (u)
    d = MatMul (r, D)
    a = Add (d, x)
    v = MatMul (a, V)
    t = Tanh (v)
    e = MatMul (t, E)
    y = Add (e, a)
  })");
  const Tensor x = test::uniform({60, 32}, -0.1, 0.1);
  const test::MemoryData data(x, std::nullopt);
  const auto backend = reference_backend();
  const auto given = [&](const Model& m) { return backend->compile(m, {})->run(std::vector<Datum>{x})[0].tensor(); };
  const auto sqnr = [&](const Model& m) { return difference(given(m), given(model)).sqnr_db; };
  const Runner runner{*backend, inline_functions};
  const Spec spec = parse_spec("w3g16:method=gptq;emit=fake");
  Model expected = clone(model);
  for (const Weight& w : find_weights(expected).weights) {
    const auto seen = observe(expected, {&w, 1}, {.products = true}, {&runner, &data});
    store(w, decode(encode_weight(w, find_method("gptq"), spec.scheme(), &seen[0], false).coded));
  }
  Means means;
  means.runner = &runner;
  means.data = &data;
  means.product_bytes = 1;
  Model made = clone(model);
  store_weights(made, spec, means);
  std::vector<std::vector<float>> found, wanted;
  for (const Value* v : made.graph->initializers()) found.push_back(to_floats(*v->constant));
  for (const Value* v : expected.graph->initializers()) wanted.push_back(to_floats(*v->constant));
  REQUIRE(found == wanted);
  means.product_bytes = 1 << 30;  // all of them by what the source gives
  Model at_once = clone(model);
  store_weights(at_once, spec, means);
  CHECK(sqnr(at_once) != sqnr(made));  // which is nearer is chance in so small a model
  const Spec codes = parse_spec("w4g32:method=gptq");
  means.product_bytes = 1;
  Model stored = clone(model);
  CHECK(store_weights(stored, codes, means).weights.size() == 4);
  CHECK(sqnr(stored) > 15);
}

TEST_CASE("steps of weights whose block is learned fit what the weights are multiplied by") {
  const Model model = test::fixture(R"(g (float[N,96] x, float[96,48] W) => (float[N,48] y) { y = MatMul (x, W) })");
  model.graph->find("W")->constant = test::uniform({96, 48}, -0.3, 0.3);
  Tensor x = test::uniform({128, 96}, -0.3, 0.3, DType::kF32, 2);
  for (int64_t i = 0; i < x.size(); ++i)
    if (i % 96 % 17 == 3) x.mutable_data<float>()[i] *= 20;
  const test::MemoryData data(x, std::nullopt);
  const auto backend = reference_backend();
  const auto given = [&](const Model& m) { return backend->compile(m, {})->run(std::vector<Datum>{x})[0].tensor(); };
  const Runner runner{*backend, inline_functions};
  Means means;
  means.runner = &runner;
  means.data = &data;
  const auto sqnr = [&](const char* spec) {
    Model made = clone(model);
    store_weights(made, parse_spec(spec), means);
    return difference(given(made), given(model)).sqnr_db;
  };
  CHECK(sqnr("w3:method=brecq") > sqnr("w3") - 0.3);
}

TEST_CASE("columns are scaled for the format that a weight has, also where a plan gives it another than the spec") {
  const Model model =
      test::fixture(R"(g (float[N,96] x, float[96,48] W) => (float[N,48] y) { [m] y = MatMul (x, W) })");
  model.graph->find("W")->constant = test::uniform({96, 48}, -0.3, 0.3);
  Tensor x = test::uniform({128, 96}, -0.3, 0.3, DType::kF32, 2);
  for (int64_t i = 0; i < x.size(); ++i)
    if (i % 96 % 17 == 3) x.mutable_data<float>()[i] *= 20;
  const test::MemoryData data(x, std::nullopt);
  const auto backend = reference_backend();
  const Runner runner{*backend, inline_functions};
  Means means;
  means.runner = &runner;
  means.data = &data;
  const auto codes = [&](const char* spec) {
    Model made = clone(model);
    store_weights(made, parse_spec(spec), means);
    return to_floats(*made.graph->initializers().at(0)->constant);
  };
  const std::vector<float> expected = codes("w2g32:method=awq");
  CHECK(codes("w8:method=awq;layers=w2g32=m") == expected);
}

TEST_CASE("a weight that the method cannot round is rounded to nearest, and it is said why") {
  Model model = test::fixture(R"(g (int64[N,8] i, float[50,32] T, float[32,48] V) => (float[N,8,48] y) {
    [table] a = Gather (T, i)
    [layer] y = MatMul (a, V)
  })");
  std::vector<int64_t> ids(32);
  for (size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<int64_t>(i * 7 % 50);
  const test::MemoryData data(Tensor::of<int64_t>({4, 8}, ids), std::nullopt);
  const auto backend = reference_backend();
  const Runner runner{*backend, inline_functions};
  Means means;
  means.runner = &runner;
  means.data = &data;
  Model plain = clone(model);
  CHECK(store_weights(plain, parse_spec("w4g16"), means).fell_back.empty());
  const Fallbacks expected = {{"table", "to nearest, for it is looked up, not multiplied by"}};
  CHECK(store_weights(model, parse_spec("w4g16:method=gptq"), means).fell_back == expected);
}

TEST_CASE("a matrix of one column has its groups along the inputs") {
  Net net;
  net.output(net.op("MatMul", {net.input({3, 256}), weight(net, {256, 1})}));
  infer(net.model);
  Model model = clone(net.model);
  store_weights(model, parse_spec("w4g32:emit=qdq"), {});
  CHECK(test::changed_by(net.model, model).sqnr_db > 15);
  for (const Node* node : model.graph->nodes())
    if (node->is("DequantizeLinear")) CHECK(node->input(1)->constant->dims() == Dims{8, 1});
}

TEST_CASE("codes of two bits fill bytes, as ONNX Runtime reads others otherwise") {
  const auto type = [](int64_t width) {
    Net net;
    net.model.set_opset("", 25);
    net.output(net.op("MatMul", {net.input({3, 64}), weight(net, {64, width})}));
    infer(net.model);
    store_weights(net.model, parse_spec("w2:emit=qdq"), {});
    for (const Node* node : net.graph().nodes())
      if (node->is("DequantizeLinear")) return node->input(0)->constant->dtype();
    return DType::kUndefined;
  };
  CHECK(type(36) == DType::kU2);
  CHECK(type(35) == DType::kU4);
}

TEST_CASE("TensorRT keeps weights in floats that only shifts could put together") {
  Net net;
  net.output(net.op("Conv", {net.input({1, 16, 40}), weight(net, {64, 16, 3})}));
  infer(net.model);
  for (const char* groups : {"w4g32:target=tensorrt", "w4:target=tensorrt"}) {
    Model model = clone(net.model);
    const Emitted done = store_weights(model, parse_spec(groups), {});
    CHECK(done.layers.empty() == (std::string(groups) == "w4g32:target=tensorrt"));
    for (const Node* node : model.graph->nodes()) CHECK(node->op != "BitShift");
  }
}

}  // namespace mlopt::quantize
