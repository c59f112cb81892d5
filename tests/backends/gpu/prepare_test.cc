#include "backends/gpu/prepare.h"

#include "backends/reference/backend.h"
#include "core/onnx/infer.h"
#include "tests/support/cases.h"
#include "tests/support/catch.h"
#include "tests/support/gpu.h"
#include "tests/support/net.h"

namespace mlopt::test {
namespace {

std::string planned_ops(const Model& model) {
  Model copy = clone(model);
  gpu::prepare(copy);
  gpu::specialize(copy, standard_types);
  return listed_ops(copy);
}

/// Codes of `scale` differ by one where a rounding falls the other way.
void require_same(const Net& net, double scale) {
  const std::vector<Datum> given{uniform({1, 16, 8, 8}, -1, 1)};
  const Tensor expected = reference_backend()->compile(net.model, {})->run(given)[0].tensor();
  for (const auto& backend : {gpu_on_host(), real_gpu()})
    if (backend) require_close(backend->compile(net.model, {})->run(given)[0].tensor(), expected, scale);
}

}  // namespace

TEST_CASE("quantized networks compute on codes on a GPU") {
  Net net;
  Value* x = net.rounded(net.input({1, 16, 8, 8}), 0.01, 128);
  const auto conv = [&](Value* v) {
    Value* y = net.op("Conv", {v, net.weights({16, 16, 3, 3}, 0)}, {attr("pads", std::vector<int64_t>{1, 1, 1, 1})});
    return net.rounded(net.op("Relu", {y}), 0.05, 0);
  };
  Value* y = net.rounded(net.op("Add", {conv(x), x}), 0.06, 30);
  y = net.rounded(net.op("MaxPool", {y}, {attr("kernel_shape", std::vector<int64_t>{2, 2})}), 0.06, 30);
  y = net.rounded(net.op("GlobalAveragePool", {y}), 0.03, 10);
  y = net.rounded(net.op("Flatten", {y}), 0.03, 10);
  net.output(net.op("Gemm", {y, net.weights({20, 16}, 0)}, {attr("transB", 1)}));
  CHECK(planned_ops(net.model) ==
        "Flatten 1, MaxPool 1, QGemm 1, QLinearAdd 1, QLinearConv 1, QLinearGlobalAveragePool 1, QuantizeLinear 1");
  require_same(net, 0.1);
}

TEST_CASE("products of what is quantized when it runs are one operator on a GPU") {
  Net net;
  Value* x = net.op("Reshape", {net.input({1, 16, 8, 8}), net.constant(Tensor::ints({16, 64}))});
  Node* codes = net.graph().add_op("DynamicQuantizeLinear", {x}, {}, nullptr, "codes", 3);
  Value* sums = net.op("MatMulInteger",
                       {codes->output(0), net.constant(uniform({64, 20}, -128, 128, DType::kI8)), codes->output(2)});
  Value* scale = net.op("Mul", {codes->output(1), net.constant(uniform({20}, 0.001, 0.01))});
  Value* y = net.op("Mul", {net.op("Cast", {sums}, {attr("to", 1)}), scale});
  net.output(net.op("Add", {y, net.constant(uniform({20}, -1, 1))}));
  CHECK(planned_ops(net.model) == "DynamicQuantizeLinear 1, MatMulIntegerToFloat 1, Reshape 1");
  require_same(net, 1e-5);
}

TEST_CASE("weights of small integers stay packed on a GPU for rows that may be few") {
  const auto product = [](const Dims& rows, int axis) {
    Net net;
    Value* codes = net.constant(uniform({160, 128}, -8, 8, DType::kI8));
    Value* scales = net.constant(uniform({axis == 0 ? 160 : 128}, 0.001, 0.01));
    Value* w = net.op("DequantizeLinear", {codes, scales}, {attr("axis", axis)});
    net.output(net.op("MatMul", {net.input(rows), w}));
    return net;
  };
  CHECK(planned_ops(product({4, 160}, 1).model) == "MatMulNBits 1");
  CHECK(planned_ops(product({2, 9, 160}, 1).model) == "DequantizeLinear 1, MatMul 1");  // many
  CHECK(planned_ops(product({4, 160}, 0).model) == "DequantizeLinear 1, MatMul 1");     // scales of another axis
  const Net net = product({4, 160}, 1);
  const std::vector<Datum> given{uniform({4, 160}, -1, 1)};
  const Tensor expected = reference_backend()->compile(net.model, {})->run(given)[0].tensor();
  for (const auto& backend : {gpu_on_host(), real_gpu()})
    if (backend) require_close(backend->compile(net.model, {})->run(given)[0].tensor(), expected, 1e-5);
}

}  // namespace mlopt::test
