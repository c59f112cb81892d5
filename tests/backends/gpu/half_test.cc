#include "backends/gpu/half.h"

#include "backends/gpu/prepare.h"
#include "backends/reference/backend.h"
#include "core/base/error.h"
#include "core/onnx/infer.h"
#include "core/tensor/compare.h"
#include "tests/support/cases.h"
#include "tests/support/catch.h"
#include "tests/support/gpu.h"
#include "tests/support/net.h"

namespace mlopt::test {
namespace {

/// The last bits of a rounding, some dozen of which follow one another.
constexpr double kHalf = 16 * 0x1p-11, kBrain = 16 * 0x1p-8;

Value* weight(Net& net, const Dims& dims, uint64_t seed) {
  return net.constant(uniform(dims, -0.5, 0.5, DType::kF32, seed));
}

/// Outputs in half precision, which are those of the reference within the tolerance and are not those in float32.
void require_half(const Net& net, const std::vector<Datum>& inputs, bool differs = true) {
  const auto expected = reference_backend()->compile(net.model, {})->run(inputs);
  const auto exact = gpu_on_host()->compile(net.model, {})->run(inputs);
  for (const auto& [precision, tolerance] : {std::pair(Precision::kF16, kHalf), std::pair(Precision::kBF16, kBrain)}) {
    CompileOptions options;
    options.precision = precision;
    for (const auto& backend : {gpu_on_host(), real_gpu()}) {
      if (!backend) continue;
      const auto plan = backend->compile(net.model, options);
      for (int time = 0; time < 3; ++time) {
        const auto actual = plan->run(inputs);
        for (size_t i = 0; i < actual.size(); ++i) {
          require_close(actual[i].tensor(), expected[i].tensor(), tolerance);
          CHECK(mismatch(actual[i].tensor(), exact[i].tensor(), 0, 0).has_value() == differs);
        }
      }
    }
  }
}

/// Operators of the model as plans in float16 have them.
std::string half_ops(const Net& net, std::string* narrow = nullptr) {
  Model model = clone(net.model);
  gpu::prepare(model);
  gpu::HalfPrecision half(model, DType::kF16);
  gpu::specialize(model, standard_types);
  half.apply(model);
  for (const Node* node : model.graph->nodes())
    if (narrow && node->op != "Cast" && node->output(0)->type.dtype == DType::kF16) *narrow += node->op + " ";
  return listed_ops(model);
}

}  // namespace

TEST_CASE("a picture's network computes in half floats on a GPU, with Casts at its edges alone") {
  Net net;
  const auto conv = [&](Value* x, int64_t from, uint64_t seed) {
    return net.op("Conv", {x, weight(net, {20, from, 3, 3}, seed), weight(net, {20}, seed + 1)},
                  {attr("pads", std::vector<int64_t>{1, 1, 1, 1})});
  };
  Value* x = net.op("Relu", {conv(net.input({2, 3, 12, 12}), 3, 1)});
  Value* y = net.op("Add", {conv(x, 20, 3), x});
  y = net.op("MaxPool", {net.op("Relu", {y})}, {attr("kernel_shape", std::vector<int64_t>{2, 2})});
  y = net.op("Resize", {y, nullptr, net.constant(Tensor::of<float>({4}, {1, 1, 2, 2}))}, {attr("mode", "linear")});
  y = net.op("Flatten", {net.op("GlobalAveragePool", {y})});
  net.output(net.op("Softmax", {net.op("Gemm", {y, weight(net, {20, 10}, 5), weight(net, {10}, 6)})}));
  std::string narrow;
  CHECK_THAT(half_ops(net, &narrow), Catch::Matchers::Contains("Cast 2,"));
  CHECK_THAT(narrow, Catch::Matchers::Contains("Resize") && Catch::Matchers::Contains("Softmax"));
  require_half(net, {uniform({2, 3, 12, 12}, -1, 1)});
}

TEST_CASE("a transformer's block computes in half floats on a GPU, joined as in float32") {
  Net net;
  const int64_t rows = 6, width = 32, heads = 4;
  Value* x = net.input({1, rows, width});
  Value* mask = net.op(
      "Mul",
      {net.op("Cast", {net.graph().add_input("mask", Type::tensor(DType::kI64, Dims{1, 1, 1, rows}))}, {attr("to", 1)}),
       net.constant(Tensor::scalar(-3.4028235e38f))});
  Value* n = net.op("LayerNormalization", {x, weight(net, {width}, 1), weight(net, {width}, 2)});
  const auto head = [&](uint64_t seed, std::vector<int64_t> perm) {
    Value* p =
        net.op("Add", {net.op("MatMul", {n, weight(net, {width, width}, seed)}), weight(net, {width}, seed + 1)});
    p = net.op("Reshape", {p, net.constant(Tensor::ints({1, rows, heads, width / heads}))});
    return net.op("Transpose", {p}, {attr("perm", std::move(perm))});
  };
  Value* scores = net.op("MatMul", {head(3, {0, 2, 1, 3}), head(5, {0, 2, 3, 1})});
  scores = net.op("Add", {net.op("Mul", {scores, net.constant(Tensor::scalar(0.35f))}), mask});
  Value* made = net.op("MatMul", {net.op("Softmax", {scores}, {attr("axis", -1)}), head(7, {0, 2, 1, 3})});
  made = net.op("Reshape", {net.op("Transpose", {made}, {attr("perm", std::vector<int64_t>{0, 2, 1, 3})}),
                            net.constant(Tensor::ints({1, rows, width}))});
  made = net.op("Add", {net.op("MatMul", {made, weight(net, {width, width}, 9)}), x});
  net.output(
      net.op("Gelu", {net.op("Add", {net.op("MatMul", {made, weight(net, {width, 48}, 10)}), weight(net, {48}, 11)})}));
  std::string narrow;
  CHECK_THAT(half_ops(net, &narrow), Catch::Matchers::Contains("MatMulAdd"));
  for (const char* op : {"Attention", "LayerNormalization", "MatMulAdd"})
    CHECK_THAT(narrow, Catch::Matchers::Contains(op));
  Tensor ends = Tensor::zeros(DType::kI64, {1, 1, 1, rows});
  ends.mutable_data<int64_t>()[rows - 1] = 1;
  require_half(net, {uniform({1, rows, width}, -1, 1), ends});
}

TEST_CASE("what float16 cannot hold stays float32 on a GPU") {
  Net net;
  Value* x = net.input({4, 64});
  Value* large = net.op("MatMul", {x, net.constant(uniform({64, 8}, 6e4, 7e4))});
  Value* sums = net.op("ReduceSum", {net.op("Exp", {x}), net.constant(Tensor::ints({1}))}, {attr("keepdims", 1)});
  net.output(net.op("Mul", {net.op("MatMul", {large, weight(net, {8, 3}, 2)}), net.constant(Tensor::scalar(1e-6f))}));
  net.output(net.op("Log", {sums}));
  std::string narrow;
  half_ops(net, &narrow);
  CHECK_THAT(narrow, !Catch::Matchers::Contains("Exp") && !Catch::Matchers::Contains("ReduceSum"));
  CompileOptions options;
  options.precision = Precision::kF16;
  const std::vector<Datum> given{uniform({4, 64}, 0.5, 1)};
  const auto expected = reference_backend()->compile(net.model, {})->run(given);
  const auto actual = gpu_on_host()->compile(net.model, options)->run(given);
  require_close(actual[1].tensor(), expected[1].tensor(), 1e-5);
}

TEST_CASE("positions are exact in half precision on a GPU") {
  Net net;
  Value* at = net.op("Cast", {net.graph().add_input("at", Type::tensor(DType::kI64, Dims{1, 5}))}, {attr("to", 1)});
  net.output(
      net.op("Sub", {net.op("Mul", {at, net.constant(Tensor::scalar(0.5f))}), net.constant(Tensor::scalar(2000.f))}));
  require_half(net, {tensor({1, 5}, {4001, 4002, 4003, 8191, 10001}, DType::kI64)}, false);
}

TEST_CASE("plans of several shapes share weights in half floats, and old GPUs and watched values are refused") {
  Net net;
  Type type = Type::tensor(DType::kF32);
  type.dims = SymDims{Dim::symbol("N"), 64};
  net.output(net.op("MatMul", {net.graph().add_input("x", type), weight(net, {64, 64}, 1)}));
  CompileOptions options;
  options.precision = Precision::kBF16;
  const auto plan = gpu_on_host()->compile(net.model, options);
  for (const int64_t n : {1, 3, 1}) {
    const std::vector<Datum> given{uniform({n, 64}, -1, 1)};
    require_close(plan->run(given)[0].tensor(), reference_backend()->compile(net.model, {})->run(given)[0].tensor(),
                  kBrain);
  }
  options.taps = {"x"};
  CHECK_THROWS_AS(gpu_on_host()->compile(net.model, options), Error);
}

}  // namespace mlopt::test
