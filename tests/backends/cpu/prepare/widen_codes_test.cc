#include "core/tensor/cast.h"
#include "tests/support/catch.h"
#include "tests/support/net.h"

namespace mlopt::test {
namespace {

/// Conv on rounded numbers with weights of type `numbers` and a scale for each channel, rounded again.
Net network(DType activations, double zero, DType numbers) {
  Net net;
  net.model.set_opset("", 25);
  Tensor codes = Tensor::zeros(DType::kI8, {4, 3, 3, 3});
  for (int64_t i = 0; i < codes.size(); ++i) codes.mutable_data<int8_t>()[i] = static_cast<int8_t>(i * 7 % 4 - 2);
  Value* w = net.op("DequantizeLinear",
                    {net.constant(pack(codes, numbers)), net.constant(uniform({4}, 0.1, 0.2)),
                     net.constant(pack(Tensor::zeros(DType::kI8, {4}), numbers))},
                    {{"axis", int64_t{0}, ""}});
  Value* x = net.rounded(net.input({1, 3, 8, 8}), 0.03, zero, activations);
  net.output(net.rounded(net.op("Relu", {net.op("Conv", {x, w})}), 0.05, zero, activations));
  return net;
}

}  // namespace

TEST_CASE("integers of less than 8 bits run on kernels of bytes, and are cut off where they end") {
  // Of numbers from -1 to 1 in steps of 0.03, these types hold less than half.
  for (const auto& [type, zero] : std::vector<std::pair<DType, double>>{
           {DType::kU4, 0}, {DType::kU4, 7}, {DType::kI4, 0}, {DType::kI4, -3}, {DType::kU2, 1}, {DType::kI2, 0}}) {
    INFO(name(type) << " " << zero);
    for (const DType weights : {DType::kI4, DType::kI2}) {
      const Net net = network(type, zero, weights);
      CHECK(prepared_ops(net.model).find("Clip") != std::string::npos);
      require_same_result(net.model, 1e-5, true);
    }
  }
}

TEST_CASE("a number on the limit of its type stays there whatever the scale") {
  for (int i = 1; i <= 500; ++i) {
    const float scale = 0.001f * static_cast<float>(i) + 1e-5f;
    Net net;
    net.model.set_opset("", 25);
    net.output(net.rounded(net.op("Mul", {net.input({64}), net.constant(Tensor::scalar(20 * scale))}),
                           static_cast<double>(scale), 0, DType::kI4));
    require_same_result(net.model, 1e-7, true);
  }
}

}  // namespace mlopt::test
