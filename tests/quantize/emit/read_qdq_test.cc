#include "quantize/emit/read_qdq.h"

#include "backends/reference/backend.h"
#include "core/ir/verify.h"
#include "core/onnx/infer.h"
#include "core/tensor/compare.h"
#include "quantize/emit/fake.h"
#include "tests/support/catch.h"
#include "tests/support/net.h"
#include "tests/support/rewrite.h"
#include "tests/support/thrown.h"

using namespace mlopt;

namespace {

/// A convolution and a product with codes as several tools write them: with and without zero points, scales of one
/// element as scalars and as vectors, a bias in int32 and one in float32, codes of 4 bits held in bytes.
Model written(bool scalars) {
  test::Net net;
  const Dims one = scalars ? Dims{} : Dims{1};
  const auto number = [&](double value) { return net.constant(test::tensor(one, {value})); };
  Value* x = net.input({2, 3, 6, 6});
  Value* step = number(0.02);
  Value* a = net.op("DequantizeLinear", {net.op("QuantizeLinear", {x, step}), step});
  Value* w = net.constant(test::uniform({4, 3, 3, 3}, -127, 127, DType::kI8, 3));
  Value* scales = net.constant(test::uniform({4}, 0.001, 0.003, DType::kF32, 4));
  Value* bias = net.op("DequantizeLinear",
                       {net.constant(test::uniform({4}, -900, 900, DType::kI32, 5)),
                        net.constant(test::uniform({4}, 2e-5, 6e-5, DType::kF32, 4))},
                       {{"axis", int64_t{0}, ""}});
  Value* y = net.op("Conv", {a, net.op("DequantizeLinear", {w, scales}, {{"axis", int64_t{-4}, ""}}), bias});
  Value* zero = net.constant(test::tensor(one, {-3}, DType::kI8));
  Value* f = net.op("Flatten", {net.op("Relu", {y})});
  Value* few = net.op("Clip", {f, net.constant(test::tensor({}, {-0.25})), net.constant(test::tensor({}, {0.5}))});
  Value* codes = net.op("QuantizeLinear", {few, number(0.05), zero});  // 16 codes of the 256
  Value* v = net.op("DequantizeLinear", {net.constant(test::uniform({64, 5}, -127, 127, DType::kI8, 6)), number(0.002),
                                         net.constant(test::tensor(one, {0}, DType::kI8))});
  net.output(net.op(
      "Gemm", {net.op("DequantizeLinear", {codes, number(0.05), zero}), v, net.constant(test::uniform({5}, -1, 1))}));
  infer(net.model, standard_types);
  return std::move(net.model);
}

Tensor run(const Model& model) {
  const Datum x = test::uniform({2, 3, 6, 6}, -1, 1, DType::kF32, 5);
  return reference_backend()->compile(model, {})->run(std::vector{x})[0].tensor();
}

}  // namespace

TEST_CASE("what others wrote in codes computes the same as floats that can be trained, and goes back to its codes") {
  for (const bool scalars : {true, false}) {
    const Model source = written(scalars);
    CHECK(quantize::has_coded_layers(source));
    Model model = clone(source);
    const quantize::Emitted read = quantize::read_qdq(model);
    CHECK(read.floats.size() == 3);  // two weights and the bias of int32
    CHECK(difference(run(model), run(source)).max_abs == 0);
    const std::vector<std::string> steps = quantize::emit_fake(model, read);
    CHECK(steps.size() == 4);
    CHECK(test::operators(*model.graph).find("Clip") == std::string::npos);
    CHECK(verify(model).empty());
    CHECK(test::operators(*model.graph).find("QuantizeLinear") == std::string::npos);
    CHECK(difference(run(model), run(source)).max_abs < 1e-4);
    quantize::emit_trained(model, quantize::parse_spec("w8a8"));
    infer(model, standard_types);
    CHECK(verify(model).empty());
    CHECK(test::operators(*model.graph) == test::operators(*source.graph));
    CHECK(difference(run(model), run(source)).sqnr_db > 35);  // a step's last bit may decide a rounding
  }
}

TEST_CASE("codes that steps cannot be learned for are refused") {
  test::Net zero, blocks;
  Value* x = zero.input({2, 4});
  Value* w = zero.op("DequantizeLinear",
                     {zero.constant(test::uniform({4, 3}, 0, 255, DType::kU8)), zero.constant(test::tensor({}, {0.1})),
                      zero.constant(test::tensor({}, {128}, DType::kU8))});
  zero.output(zero.op("MatMul", {x, w}));
  CHECK(test::says(test::thrown_by([&] { quantize::read_qdq(zero.model); }), "no sign"));
  Value* y = blocks.input({2, 4});
  Value* v = blocks.op(
      "DequantizeLinear",
      {blocks.constant(test::uniform({4, 3}, -9, 9, DType::kI8)), blocks.constant(test::uniform({2, 3}, 0.1, 1))},
      {{"axis", int64_t{0}, ""}, {"block_size", int64_t{2}, ""}});
  blocks.output(blocks.op("MatMul", {y, v}));
  CHECK(test::says(test::thrown_by([&] { quantize::read_qdq(blocks.model); }), "in blocks"));
}
