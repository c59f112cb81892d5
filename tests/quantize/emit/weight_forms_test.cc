#include "quantize/emit/weight_forms.h"

#include <cmath>
#include <functional>

#include "core/ir/infer.h"
#include "core/ir/verify.h"
#include "quantize/quantize.h"
#include "quantize/store_weights.h"
#include "tests/support/catch.h"
#include "tests/support/error.h"
#include "tests/support/net.h"

namespace mlopt::quantize {
namespace {

using test::Net;

Value* weight(Net& net, const Dims& dims) {
  return net.constant(test::uniform(dims, -0.2, 0.3, DType::kF32, net.graph().node_count() + 3));
}

struct Layer {
  const char* name;
  std::function<void(Net&)> add;
};

Attr ints(const char* name, std::vector<int64_t> values) { return {name, std::move(values), ""}; }
Attr number(const char* name, int64_t value) { return {name, value, ""}; }

/// Every way in which a weight lies in its tensor.
const std::vector<Layer>& layers() {
  static const std::vector<Layer> all = {
      {"matmul",
       [](Net& net) {
         net.output(net.op("MatMul", {net.input({2, 3, 64}), weight(net, {64, 24})}));
       }},
      {"gemm with a bias and beta",
       [](Net& net) {
         net.output(net.op("Gemm", {net.input({5, 48}), weight(net, {32, 48}), weight(net, {32})},
                           {number("transB", 1), {"beta", 0.5f, ""}}));
       }},
      {"gemm with one number as bias",
       [](Net& net) {
         net.output(net.op("Gemm", {net.input({5, 64}), weight(net, {64, 32}), weight(net, {1})}));
       }},
      {"transposed before it is read",
       [](Net& net) {
         Value* turned = net.op("Transpose", {weight(net, {32, 64})}, {ints("perm", {1, 0})});
         net.output(net.op("MatMul", {net.input({3, 64}), turned}));
       }},
      {"left",
       [](Net& net) {
         net.output(net.op("MatMul", {weight(net, {40, 64}), net.input({64, 3})}));
       }},
      {"batch of matrices",
       [](Net& net) {
         net.output(net.op("MatMul", {net.input({2, 3, 64}), weight(net, {2, 64, 24})}));
       }},
      {"conv in groups",
       [](Net& net) {
         net.output(net.op("Conv", {net.input({1, 8, 6, 6}), weight(net, {32, 4, 3, 3})}, {number("group", 2)}));
       }},
      {"transposed conv in groups",
       [](Net& net) {
         net.output(net.op("ConvTranspose", {net.input({1, 8, 5}), weight(net, {8, 48, 3})}, {number("group", 2)}));
       }},
      {"lstm of two directions",
       [](Net& net) {
         Node* lstm = net.graph().add_op(
             "LSTM", {net.input({3, 2, 20}), weight(net, {2, 64, 20}), weight(net, {2, 64, 16})},
             {number("hidden_size", 16), {"direction", std::string("bidirectional"), ""}}, nullptr, "lstm");
         net.output(lstm->output(0));
       }},
      {"table",
       [](Net& net) {
         Value* ids = net.graph().add_input("ids", Type::tensor(DType::kI64, Dims{2, 4}));
         net.output(net.op("Gather", {weight(net, {50, 24}), ids}));
       }},
      {"odd sizes", [](Net& net) {
         net.output(net.op("MatMul", {net.input({2, 33}), weight(net, {33, 37})}));
       }}};
  return all;
}

Model stored(const Model& source, const std::string& spec, Emitted* done = nullptr) {
  Model model = clone(source);
  Emitted made = store_weights(model, parse_spec(spec), {});
  infer(model);
  INFO(spec);
  CHECK(verify(model).empty());
  CHECK_FALSE(made.weights.empty());
  if (done) *done = std::move(made);
  return model;
}

}  // namespace

TEST_CASE("every form of every format computes what the floats that codes stand for do") {
  for (const Layer& layer : layers())
    for (const char* format : {"w8",
                               "w4",
                               "w4g16",
                               "w4g20",
                               "w3g32",
                               "w5",
                               "w7",
                               "w2g64",
                               "w1",
                               "ternary",
                               "nf4",
                               "fp4g16",
                               "codebook3",
                               "codebook2g24",
                               "codebook4v3",
                               "codebook4v4:per_tensor",
                               "pot4",
                               "apot5",
                               "fp8e4m3",
                               "fp8e5m2g32",
                               "w4:symmetric",
                               "w3g16:symmetric",
                               "w4:per_tensor",
                               "codebook3:per_tensor",
                               "nf4:per_tensor",
                               "w4g16:sparse_outliers=2%",
                               "codebook3:sparse_outliers=2%",
                               "codebook4v3:sparse_outliers=2%"}) {
      Net net;
      layer.add(net);
      infer(net.model);
      const std::string spec = format, join = spec.find(':') == std::string::npos ? ":" : ";";
      const Model expected = stored(net.model, spec + join + "emit=fake");
      INFO(layer.name << ' ' << format);
      CHECK(test::changed_by(net.model, expected).max_abs > 0);
      for (const char* more : {"accuracy_level=0", "target=onnx", "emit=gather", "emit=qdq"}) {
        if (std::string(more) == "emit=qdq" && !kDequantizeForm.problem({}, parse_spec(spec)).empty()) continue;
        INFO(more);
        CHECK(test::changed_by(expected, stored(net.model, spec + join + more)).sqnr_db > 110);
      }
    }
}

TEST_CASE("numbers beside the codes are stored once, and no operator with codes of its own is chosen") {
  Net net;
  layers()[0].add(net);
  infer(net.model);
  Emitted plain, sparse;
  stored(net.model, "w4g16:target=onnx", &plain);
  const Model model = stored(net.model, "w4g16:target=onnx;sparse_outliers=5%", &sparse);
  const int64_t kept = std::llround(64 * 24 * 0.05);
  const int64_t dims = 3 * 8;  // of two reshapes
  CHECK(sparse.weights[0].bytes == plain.weights[0].bytes + kept * 8 + dims);
  CHECK(sparse.weights[0].sqnr_db > plain.weights[0].sqnr_db);
  CHECK(test::listed_ops(model) == "DequantizeLinear 1, MatMul 1, Reshape 2, ScatterElements 1");
  CHECK(test::listed_ops(stored(net.model, "w4g16:sparse_outliers=5%")).find("MatMulNBits") == std::string::npos);
  CHECK(test::contains(test::error_of([&] { stored(net.model, "w4g16:sparse_outliers=5%;emit=matmulnbits"); }),
                       "beside the codes"));
}

TEST_CASE("below opset 18 bits are told apart by division") {
  Net net;
  layers()[0].add(net);
  infer(net.model);
  const Model expected = stored(net.model, "w3:emit=fake");
  net.model.set_opset("", 13);
  const Model model = stored(net.model, "w3");
  CHECK(test::listed_ops(model).find("BitShift") == std::string::npos);
  Model again = clone(expected);
  again.set_opset("", 13);
  CHECK(test::changed_by(again, model).sqnr_db > 110);
}

TEST_CASE("products become operators of com.microsoft where these have the format") {
  Net net;
  layers()[1].add(net);
  infer(net.model);
  CHECK(test::listed_ops(stored(net.model, "w4g16")) == "MatMulNBits 1");  // the bias is one of its inputs
  CHECK(test::listed_ops(stored(net.model, "nf4g16")) == "Add 1, MatMulBnb4 1, Mul 1");
  CHECK(test::listed_ops(stored(net.model, "w2g16:emit=matmulnbits")) == "MatMulNBits 1");
  CHECK(test::listed_ops(stored(net.model, "w8g16:emit=matmulnbits")) == "MatMulNBits 1");
  CHECK(test::listed_ops(stored(net.model, "w4g16:target=onnx")) == "DequantizeLinear 1, Gemm 1");
  CHECK(test::listed_ops(stored(net.model, "w4g16:target=onnx;opset=17")).find("DequantizeLinear") ==
        std::string::npos);  // blocks came with 21
  const auto level = [&](const char* spec) {
    const Model made = stored(net.model, spec);
    const Attr* given = made.graph->nodes().back()->attr("accuracy_level");
    return given ? std::get<int64_t>(given->value) : -1;
  };
  CHECK(level("w4g16") == 4);
  CHECK(level("w4g16:accuracy_level=0") == 0);
  CHECK(level("w4g16:target=ort:x86-avx2") == 0);
  CHECK(level("w4g16:target=ort:x86-avx2;accuracy_level=4") == 4);
  // 8 bits, and 2 bits in some groups, have kernels at level 4 alone.
  CHECK(level("w8g16") == -1);
  CHECK(level("w8g16:accuracy_level=4") == 4);
  CHECK(level("w2g32:emit=matmulnbits") == 4);
  CHECK(level("w2g16") == -1);
  CHECK(test::listed_ops(stored(net.model, "w4g16:target=openvino")) == "DequantizeLinear 1, Gemm 1");
  CHECK(test::listed_ops(stored(net.model, "w4g20:target=openvino")).find("DequantizeLinear") == std::string::npos);
  CHECK(test::listed_ops(stored(net.model, "w8")).find("DequantizeLinear") == std::string::npos);
  CHECK(test::listed_ops(stored(net.model, "w4g12")).find("MatMulNBits") == std::string::npos);
}

TEST_CASE("tables that are to be in its format become GatherBlockQuantized") {
  Net net;
  layers()[9].add(net);
  infer(net.model);
  const auto planned = [&](const char* format, const std::string& spec) {
    Spec planned = parse_spec("w8:" + spec);
    planned.plan[find_weights(net.model, {.stored_only = true}).weights[0].layer] = *parse_weight_format(format);
    Model model = clone(net.model);
    store_weights(model, planned, {});
    infer(model);
    CHECK(verify(model).empty());
    return model;
  };
  for (const char* format : {"w4g16", "w8g16", "w4", "w8"})
    for (const char* more : {"target=ort", "symmetric"}) {
      INFO(format << ' ' << more);
      const Model expected = planned(format, std::string(more) + ";emit=fake"),
                  model = planned(format, std::string(more) + ";emit=gatherblockquantized");
      CHECK(test::listed_ops(model) == "GatherBlockQuantized 1");
      CHECK(test::changed_by(expected, model).sqnr_db > 110);
    }
  CHECK(test::listed_ops(planned("w4g16", "target=ort")) == "GatherBlockQuantized 1");
  CHECK(test::listed_ops(planned("w8g16", "target=ort")).find("BlockQuantized") == std::string::npos);
  CHECK(test::listed_ops(planned("w4g16", "target=onnx")).find("BlockQuantized") == std::string::npos);
}

TEST_CASE("from opset 25 on two bits have a type of their own") {
  Net net;
  layers()[0].add(net);
  infer(net.model);
  for (const char* spec : {"w2g16", "w2:symmetric", "w2"}) {
    INFO(spec);
    const std::string form = std::string(spec) + (std::string(spec) == "w2:symmetric" ? ";" : ":") + "emit=";
    Model older = clone(net.model), newer = clone(net.model), expected = clone(net.model);
    for (Model* model : {&newer, &expected}) model->set_opset("", 25);
    expected = stored(expected, form + "fake");
    newer = stored(newer, form + "qdq");
    const DType type = newer.graph->nodes()[0]->input(0)->type.dtype;
    CHECK(bits(type) == 2);
    CHECK(bits(stored(older, form + "qdq").graph->nodes()[0]->input(0)->type.dtype) == 4);
    CHECK(test::changed_by(expected, newer).sqnr_db > 110);
  }
}

TEST_CASE("a form that no weight can have is refused with the reason") {
  Net net;
  layers()[6].add(net);
  infer(net.model);
  const auto refusal = [&](const char* spec) { return test::error_of([&] { stored(net.model, spec); }); };
  CHECK(test::contains(refusal("w4g16:emit=matmulnbits"), "Conv is no MatMul or Gemm"));
  CHECK(test::contains(refusal("w3g16:emit=matmulnbits"), "2, 4 or 8 bits"));
  CHECK(test::contains(refusal("w4g24:emit=matmulnbits"), "not 24"));
  CHECK(test::contains(refusal("w4g16:emit=qdq;opset=18"), "needs opset 21"));
  CHECK(test::contains(refusal("fp4:emit=qdq"), "float4e2m1"));
  CHECK(test::contains(refusal("w4:emit=gatherblockquantized"), "tables of two axes"));
  CHECK(test::contains(refusal("codebook3:emit=qdq"), "uniform levels and float8 alone"));
  CHECK(test::contains(refusal("w4g16:emit=matmulbnb4"), "nf4 and fp4 alone"));
}

TEST_CASE("files hold as many bits for a number as the format says") {
  Net net;
  net.output(net.op("MatMul", {net.input({2, 256}), weight(net, {256, 512})}));
  infer(net.model);
  struct Case {
    const char* format;
    double bits;
  };
  // Scales of 32 bits, and zero points, for each group or each output of 256.
  for (const Case& c :
       {Case{"w4g32", 4 + 36.0 / 32}, Case{"w4g32:symmetric", 5}, Case{"w3", 3 + 40.0 / 256},
        Case{"w1", 1 + 32.0 / 256}, Case{"ternary", 2 + 32.0 / 256}, Case{"nf4", 4.5},
        Case{"codebook2", 2 + 4 * 32.0 / 256}, Case{"w7g64", 7 + 40.0 / 64}, Case{"fp8e4m3", 8 + 32.0 / 256}}) {
    Emitted done;
    stored(net.model, c.format, &done);
    const double bits = 8 * static_cast<double>(done.weights[0].bytes) / static_cast<double>(done.weights[0].elements);
    INFO(c.format);
    CHECK(bits >= c.bits);
    CHECK(bits < c.bits + 0.02);  // shapes and shifts
  }
}

}  // namespace mlopt::quantize
