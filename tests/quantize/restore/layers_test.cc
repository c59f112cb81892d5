#include "backends/reference/backend.h"
#include "core/calib/model_inputs.h"
#include "core/data/random.h"
#include "core/ir/verify.h"
#include "core/onnx/infer.h"
#include "core/tensor/cast.h"
#include "quantize/restore/restore.h"
#include "tests/support/catch.h"
#include "tests/support/error.h"
#include "tests/support/net.h"
#include "tests/support/op.h"
#include "tests/support/rewrite.h"

namespace mlopt::quantize {
namespace {

using test::Net;

std::vector<Datum> run(const Model& model, const std::vector<Datum>& inputs) {
  static const std::unique_ptr<Backend> backend = reference_backend();
  return backend->compile(model, {})->run(inputs);
}

/// The operators of the model that is read back, whose outputs must be those of the source on these inputs.
std::string restored(const Net& net, const std::vector<Datum>& inputs) {
  Model model = clone(net.model);
  CHECK(restore_floats(model, test::pass_context()) > 0);
  CHECK(verify(model).empty());
  CHECK(first_quantized(model) == nullptr);
  const std::vector<Datum> expected = run(net.model, inputs), given = run(model, inputs);
  for (size_t i = 0; i < expected.size(); ++i) {
    const Difference d = difference(given[i].tensor(), expected[i].tensor());
    CHECK(d.max_expected > 0);
    CHECK(d.sqnr_db > 90);
  }
  return test::listed_ops(model);
}

Value* codes(Net& net, const Dims& dims, DType type, double low, double high, uint64_t seed) {
  return net.constant(cast(test::uniform(dims, low, high, DType::kF32, seed), type));
}

Value* numbers(Net& net, const Dims& dims, double low, double high, uint64_t seed) {
  return net.constant(test::uniform(dims, low, high, DType::kF32, seed));
}

Node* contrib(Net& net, const char* op, std::vector<Value*> inputs, std::vector<Attr> attrs, int outputs) {
  net.model.set_opset("com.microsoft", 1);
  return net.graph().add_op(op, std::move(inputs), std::move(attrs), nullptr, "made", outputs, "com.microsoft");
}

void finish(Net& net, const Node& node) {
  for (Value* y : node.outputs()) net.output(y);
  infer(net.model, standard_types);
}

}  // namespace

TEST_CASE("an LSTM on codes becomes the LSTM, with a scale for each direction or for each gate") {
  constexpr int64_t kInputs = 5, kHidden = 3;
  for (const bool by_gate : {false, true}) {
    Net net;
    Value* x = net.input({4, 2, kInputs});
    const Dims steps = by_gate ? Dims{2, 4 * kHidden} : Dims{2};
    Value* w = codes(net, {2, kInputs, 4 * kHidden}, DType::kI8, -100, 100, 1);
    Value* r = codes(net, {2, kHidden, 4 * kHidden}, DType::kI8, -100, 100, 2);
    Value* zeros = codes(net, steps, DType::kI8, -9, 9, 3);
    const Node* made = contrib(net, "DynamicQuantizeLSTM",
                               {x, w, r, numbers(net, {2, 8 * kHidden}, -1, 1, 4), nullptr, nullptr, nullptr, nullptr,
                                numbers(net, steps, 0.005, 0.02, 5), zeros, numbers(net, steps, 0.005, 0.02, 6), zeros},
                               {{"hidden_size", kHidden, ""}, {"direction", std::string("bidirectional"), ""}}, 3);
    finish(net, *made);
    CHECK(restored(net, {test::uniform({4, 2, kInputs}, -1, 1, DType::kF32, 7)}) == "LSTM 1");
  }
}

TEST_CASE("a table that is looked up in codes becomes the table of floats") {
  const Tensor ids = test::tensor({5}, {0, 3, 7, 2, 3}, DType::kI64);
  const auto table = [&](Net& net, Value* stored, Value* zeros, int64_t bits) {
    Value* i = net.graph().add_input("ids", Type::tensor(DType::kI64, Dims{5}));
    std::vector<Value*> inputs = {stored, i, numbers(net, {8, 3}, 0.01, 0.1, 9)};
    if (zeros) inputs.push_back(zeros);
    finish(net, *contrib(net, "GatherBlockQuantized", std::move(inputs),
                         {{"bits", bits, ""}, {"block_size", int64_t{16}, ""}, {"quantize_axis", int64_t{1}, ""}}, 1));
    CHECK(restored(net, {ids}) == "Gather 1");
  };
  for (const int64_t bits : {4, 8})
    for (const bool zeros : {false, true}) {
      Net net;
      Value* points = zeros ? codes(net, {8, bits == 4 ? 2 : 3}, DType::kU8, 0, 255, 2) : nullptr;
      table(net, codes(net, {8, 48 * bits / 8}, DType::kU8, 0, 255, 1), points, bits);
    }
  Net typed;
  table(typed, codes(typed, {8, 48}, DType::kI4, -8, 7, 1), nullptr, 4);
}

TEST_CASE("a table whose scales or zero points do not fit is not read back") {
  const Dims scales = {8, 3};
  for (const auto& [steps, zeros] :
       {std::pair<Dims, Dims>{scales, {8, 1}}, {scales, {2}}, {{8, 2}, {8, 1}}, {{0, 3}, {0, 2}}}) {
    Net net;
    Value* ids = net.graph().add_input("ids", Type::tensor(DType::kI64, Dims{5}));
    const Node* made = contrib(net, "GatherBlockQuantized",
                               {codes(net, {8, 24}, DType::kU8, 0, 255, 1), ids, numbers(net, steps, 0.01, 0.1, 9),
                                codes(net, zeros, DType::kU8, 0, 255, 2)},
                               {{"block_size", int64_t{16}, ""}, {"quantize_axis", int64_t{1}, ""}}, 1);
    net.output(made->output(0));
    const auto read = [&] { restore_floats(net.model, test::pass_context()); };
    CHECK(test::contains(test::error_of(read), "GatherBlockQuantized giving 'made' cannot be read back"));
  }
}

TEST_CASE("a convolution on codes with a bias in steps that are found at run time is not read back") {
  Net net;
  const Node* q = net.graph().add_op("DynamicQuantizeLinear", {net.input({1, 2, 4, 4})}, {}, nullptr, "q", 3);
  Value *step = net.constant(Tensor::scalar(0.05f)), *zero = net.constant(Tensor::scalar<uint8_t>(100));
  Value* y =
      net.op("QLinearConv", {q->output(0), q->output(1), q->output(2), codes(net, {3, 2, 1, 1}, DType::kU8, 0, 255, 1),
                             step, zero, step, zero, net.constant(test::tensor({3}, {5, -7, 9}, DType::kI32))});
  net.output(net.op("DequantizeLinear", {y, step, zero}));
  infer(net.model, standard_types);
  const auto read = [&] { restore_floats(net.model, test::pass_context()); };
  CHECK(test::contains(test::error_of(read), "cannot be read back"));
}

TEST_CASE("operators on codes that choose, average, fill in and compare become those on floats") {
  Net where;
  Value* condition = where.graph().add_input("c", Type::tensor(DType::kBool, Dims{4}));
  Value* step = where.constant(Tensor::scalar(0.05f));
  Value* zero = where.constant(Tensor::scalar<uint8_t>(100));
  Value* x = where.quantize(where.input({4}), 0.05, 100);
  const Node* chosen =
      contrib(where, "QLinearWhere",
              {condition, x, step, zero, codes(where, {4}, DType::kU8, 0, 255, 2), step, zero, step, zero}, {}, 1);
  where.output(where.op("DequantizeLinear", {chosen->output(0), step, zero}));
  infer(where.model, standard_types);
  CHECK(restored(where, {test::tensor({4}, {1, 0, 0, 1}, DType::kBool), test::tensor({4}, {1.5, 2, 3, -4.5})}) ==
        "Where 1");

  Net pad;
  Value* filled = pad.op("Pad", {pad.quantize(pad.input({4}), 0.05, 100), pad.constant(Tensor::ints({1, 1})),
                                 pad.constant(Tensor::scalar<uint8_t>(140))});
  pad.output(pad.dequantize(filled, 0.05, 100));
  infer(pad.model, standard_types);
  CHECK(restored(pad, {test::tensor({4}, {1.5, 2, 3, -4.5})}) == "Pad 1");

  Net most;
  most.output(most.op("ArgMax", {most.quantize(most.input({2, 4}), 0.05, 100)}));
  infer(most.model, standard_types);
  CHECK(restored(most, {test::tensor({2, 4}, {1.5, 2, 3, -4.5, -1, -2, -3, 0})}) == "ArgMax 1");

  for (const int64_t opset : {17, 18}) {
    Net mean;
    mean.model.set_opset("", opset);
    Value* from = mean.quantize(mean.input({2, 8}), 0.05, 100);
    Value *step = mean.constant(Tensor::scalar(0.05f)), *zero = mean.constant(Tensor::scalar<uint8_t>(100));
    const Node* made = contrib(mean, "QLinearReduceMean", {from, step, zero, step, zero},
                               {{"axes", std::vector<int64_t>{1}, ""}, {"keepdims", int64_t{0}, ""}}, 1);
    mean.output(mean.dequantize(made->output(0), 0.05, 100));
    infer(mean.model, standard_types);
    Model model = clone(mean.model);
    CHECK(restore_floats(model, test::pass_context()) > 0);
    CHECK(verify(model).empty());
    const Node* left = model.graph->nodes()[0];
    CHECK(left->is("ReduceMean"));
    CHECK(left->inputs().size() == (opset < 18 ? 1 : 2));
  }
}

TEST_CASE(
    "attention on codes becomes the attention of floats, whether its input is rounded in given steps or at run time") {
  constexpr int64_t kWidth = 8;
  for (const bool dynamic : {false, true}) {
    Net net;
    Value* x = net.input({1, 3, kWidth});
    std::vector<Value*> steps;
    Value* q = nullptr;
    if (dynamic) {
      const Node* rounded = net.graph().add_op("DynamicQuantizeLinear", {x}, {}, nullptr, "q", 3);
      q = rounded->output(0);
      steps = {rounded->output(1), rounded->output(2)};
    } else {
      q = net.quantize(x, 0.02, 128);
      steps = {net.constant(Tensor::scalar(0.02f)), net.constant(Tensor::scalar<uint8_t>(128))};
    }
    const Node* made = contrib(
        net, "QAttention",
        {q, codes(net, {kWidth, 3 * kWidth}, DType::kI8, -100, 100, 1), numbers(net, {3 * kWidth}, -1, 1, 2), steps[0],
         numbers(net, {3 * kWidth}, 0.005, 0.02, 3), nullptr, steps[1], codes(net, {3 * kWidth}, DType::kI8, -2, 2, 4)},
        {{"num_heads", int64_t{2}, ""}}, 1);
    finish(net, *made);
    Model model = clone(net.model);
    CHECK(restore_floats(model, test::pass_context()) > 0);
    CHECK(test::listed_ops(model) == "Attention 1");
    const std::vector<Datum> inputs = {test::uniform({1, 3, kWidth}, -1, 1, DType::kF32, 7)};
    // What is left is what the input was rounded by.
    CHECK(difference(run(model, inputs)[0].tensor(), run(net.model, inputs)[0].tensor()).sqnr_db > 30);
  }
}

TEST_CASE("embeddings on codes become the embeddings of floats") {
  constexpr int64_t kWidth = 8;
  Net net;
  Value* ids = net.graph().add_input("ids", Type::tensor(DType::kI32, Dims{1, 4}));
  Value *step = net.constant(Tensor::scalar(0.02f)), *zero = net.constant(Tensor::scalar<uint8_t>(120));
  const auto table = [&](const Dims& dims, uint64_t seed) { return codes(net, dims, DType::kU8, 0, 255, seed); };
  Value *words = table({9, kWidth}, 1), *places = table({6, kWidth}, 2), *gamma = table({kWidth}, 3),
        *beta = table({kWidth}, 4);
  const Node* made = contrib(net, "QEmbedLayerNormalization",
                             {ids, nullptr, words, places, nullptr, gamma, beta, nullptr, step, step, nullptr, step,
                              step, zero, zero, nullptr, zero, zero},
                             {{"epsilon", 1e-5f, ""}}, 2);
  net.output(made->output(0));
  infer(net.model, standard_types);
  Model model = clone(net.model);
  CHECK(restore_floats(model, test::pass_context()) > 0);
  REQUIRE(test::listed_ops(model) == "EmbedLayerNormalization 1");
  const Node* left = model.graph->nodes()[0];
  const std::vector<std::pair<int, const Value*>> pairs = {{2, words}, {3, places}, {5, gamma}, {6, beta}};
  for (const auto& pair : pairs) {
    const std::vector<float> real = to_floats(*left->input(pair.first)->constant),
                             stored = to_floats(*pair.second->constant);
    for (size_t i = 0; i < real.size(); ++i) CHECK(real[i] == Approx((stored[i] - 120) * 0.02));
  }
}

}  // namespace mlopt::quantize
