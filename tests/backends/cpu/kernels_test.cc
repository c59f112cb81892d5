#include "backends/cpu/kernels.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "backends/reference/kernels.h"
#include "core/base/error.h"
#include "core/onnx/io.h"
#include "tests/support/catch.h"
#include "tests/support/cpu.h"

namespace mlopt::test {
namespace {

constexpr const char* kUnary[] = {
    "Abs",       "Ceil",     "Elu",      "Erf",         "Exp",        "Floor",      "Gelu",           "HardSwish",
    "LeakyRelu", "Mish",     "Neg",      "HardSigmoid", "Reciprocal", "Relu",       "Round",          "Selu",
    "Sigmoid",   "Softplus", "Softsign", "Tanh",        "Softmax",    "LogSoftmax", "ThresholdedRelu"};
constexpr const char* kReductions[] = {"ReduceL1",  "ReduceL2",  "ReduceMax",      "ReduceMean",
                                       "ReduceMin", "ReduceSum", "ReduceSumSquare"};
constexpr const char* kBinary[] = {"Add", "Sub", "Mul", "Div", "Max", "Min", "PRelu"};

/// What running a node comes to: its first output, or that it was refused.
struct Outcome {
  bool refused = false;
  Tensor value;
};

Outcome outcome(const std::string& op, const std::vector<Datum>& inputs, OpOptions options, Backend* backend) {
  options.backend = backend;
  try {
    return {false, run_op(op, inputs, options)};
  } catch (const Error&) {
    return {true, {}};
  }
}

/// The program's CPU backend refuses what the reference refuses, and gives what it gives.
void require_same_outcome(const std::string& op, const std::vector<Datum>& inputs, const OpOptions& options = {}) {
  const std::unique_ptr<Backend> cpu = cpu_with_fallback();
  std::string shapes;
  for (const Datum& x : inputs) shapes += (x.is_none() ? "-" : to_string(x.tensor().dims())) + " ";
  INFO(op << " of " << shapes);
  const Outcome expected = outcome(op, inputs, options, nullptr), actual = outcome(op, inputs, options, cpu.get());
  REQUIRE(actual.refused == expected.refused);
  if (!expected.refused) require_close(actual.value, expected.value, 1e-5);
}

Tensor floats(const Dims& dims, uint64_t seed = 1) { return uniform(dims, -2, 2, DType::kF32, seed); }

/// Every third element is NaN, an infinity, or beyond what squares hold.
Tensor difficult(const Dims& dims) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const float odd[] = {std::nanf(""), kInfinity, -kInfinity, 3e38f, -3e38f, 0.0f, -0.0f, 1e-42f};
  Tensor x = floats(dims, 5);
  for (int64_t i = 0; i < x.size(); i += 3) x.mutable_data<float>()[i] = odd[(i / 3) % 8];
  return x;
}

}  // namespace

TEST_CASE("every operator of the CPU backend is one of the reference's too, which runs what a kernel declines") {
  const auto reference = reference::all_kernels();
  for (const Kernel& kernel : cpu::all_kernels()) {
    INFO(kernel.domain << "." << kernel.op);
    REQUIRE(std::any_of(reference.begin(), reference.end(),
                        [&](const Kernel& r) { return r.op == kernel.op && r.domain == kernel.domain; }));
  }
}

TEST_CASE("tensors without elements give what they give on the reference backend") {
  for (const Dims& dims : {Dims{0}, Dims{0, 3}, Dims{2, 0, 3}, Dims{1, 4, 0, 2}}) {
    for (const char* op : kUnary) require_same_outcome(op, {floats(dims)});
    for (const char* op : kReductions) require_same_outcome(op, {floats(dims)});
    for (const char* op : kBinary) {
      require_same_outcome(op, {floats(dims), floats(dims)});
      require_same_outcome(op, {floats(dims), floats({1})});
    }
  }
  require_same_outcome("MatMul", {floats({0, 4}), floats({4, 5})});
  require_same_outcome("MatMul", {floats({3, 0}), floats({0, 5})});
  require_same_outcome("MatMul", {floats({2, 3, 4}), floats({2, 4, 0})});
  require_same_outcome("Gemm", {floats({3, 0}), floats({0, 5}), floats({5})});
  require_same_outcome("Conv", {floats({0, 3, 6, 6}), floats({4, 3, 3, 3})});
  require_same_outcome("Conv", {floats({1, 0, 6, 6}), floats({4, 0, 3, 3})});
  require_same_outcome("ConvTranspose", {floats({0, 3, 6, 6}), floats({3, 4, 3, 3})});
  for (const char* op : {"MaxPool", "AveragePool"})
    require_same_outcome(op, {floats({0, 3, 6, 6})}, {.attrs = {{"kernel_shape", std::vector<int64_t>{2, 2}, ""}}});
  require_same_outcome("GlobalAveragePool", {floats({0, 3, 6, 6})});
  require_same_outcome("LayerNormalization", {floats({0, 6}), floats({6})});
  require_same_outcome("InstanceNormalization", {floats({0, 3, 6}), floats({3}), floats({3})});
  require_same_outcome("QuantizeLinear", {floats({0, 3}), tensor({}, {0.5}), tensor({}, {3}, DType::kU8)});
}

TEST_CASE("NaN, infinities and the largest numbers give what they give on the reference backend") {
  for (const Dims& dims : {Dims{41}, Dims{5, 9}, Dims{2, 3, 4, 5}}) {
    for (const char* op : kUnary) require_same_outcome(op, {difficult(dims)});
    for (const char* op : {"ReduceMax", "ReduceMin"}) require_same_outcome(op, {difficult(dims)});
    for (const char* op : kBinary) require_same_outcome(op, {difficult(dims), floats({dims.back()}, 3)});
  }
  for (const char* op : {"MaxPool", "AveragePool"})
    require_same_outcome(op, {difficult({1, 3, 6, 7})}, {.attrs = {{"kernel_shape", std::vector<int64_t>{2, 3}, ""}}});
  for (const char* op : {"GlobalMaxPool", "GlobalAveragePool"}) require_same_outcome(op, {difficult({2, 3, 4, 5})});
  Tensor x = floats({3, 4});
  x.mutable_data<float>()[5] = std::nanf("");
  require_same_outcome("MatMul", {x, floats({4, 5}, 2)});
  require_same_outcome("Gemm", {x, floats({4, 5}, 2), floats({5}, 3)});
  require_same_outcome("QuantizeLinear", {tensor({4}, {INFINITY, -INFINITY, 1e30, -1e30}), tensor({}, {0.5}),
                                          tensor({}, {3}, DType::kU8)});
}

TEST_CASE("operands broadcast as on the reference backend, whatever their axes") {
  const std::pair<Dims, Dims> shapes[] = {{{2, 3, 4}, {4}},       {{2, 3, 4}, {3, 1}}, {{2, 1, 4}, {5, 1}},
                                          {{1}, {2, 3}},          {{}, {2, 3}},        {{7, 1, 5}, {1, 6, 1}},
                                          {{3, 1, 1}, {3, 8, 9}}, {{2, 3}, {4, 3}}};
  for (const char* op : kBinary)
    for (const auto& [a, b] : shapes) require_same_outcome(op, {floats(a, 1), floats(b, 2)});
}

TEST_CASE("a required input that is missing is an error, never a crash") {
  const auto runs = [](const std::string& op, const std::string& inputs) {
    const Model model = parse_text(
        "<ir_version: 10, opset_import: [\"\" : 17]> main (float[1,2,3] x, bool[1] c) => (y) "
        "<float[2] s = {1, 2}> { y = " +
        op + "(" + inputs + ") }");
    return cpu_with_fallback()->compile(model, {})->run(
        std::vector<Datum>{floats({1, 2, 3}, 1), tensor({1}, {1}, DType::kBool)});
  };
  CHECK_THROWS_AS(runs("ReduceSum", ", "), Error);
  CHECK_THROWS_AS(runs("BatchNormalization", "x"), Error);
  CHECK_THROWS_AS(runs("BatchNormalization", ", s, s, s, s"), Error);
  CHECK_THROWS_AS(runs("InstanceNormalization", "x, s"), Error);
  CHECK_THROWS_AS(runs("Where", "c, x"), Error);
}

}  // namespace mlopt::test
