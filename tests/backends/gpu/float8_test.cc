#include "backends/gpu/device/float8.h"

#include <bit>

#include "backends/gpu/prepare.h"
#include "backends/reference/backend.h"
#include "core/tensor/cast.h"
#include "core/tensor/compare.h"
#include "core/tensor/small_float.h"
#include "tests/support/catch.h"
#include "tests/support/gpu.h"
#include "tests/support/net.h"
#include "tests/support/rewrite.h"

namespace mlopt::test {
namespace {

constexpr DType kE4 = DType::kF8E4M3FN, kE5 = DType::kF8E5M2;

Attr number(const char* name, int64_t value) { return {name, value, {}}; }

/// Codes of numbers that use the whole range of the type.
Tensor codes(const Dims& dims, DType type, uint64_t seed) {
  return cast(uniform(dims, -3, 3, DType::kF32, seed), type);
}

/// x in steps of 0.25 by weights [16, 32] with a scale for each column, as a MatMul or a Gemm with a bias has them.
Net product(const Dims& x, DType a, DType b, bool gemm) {
  Net net;
  const auto steps = [&](Value* from, const Tensor& scale, std::vector<Attr> attrs) {
    return net.op("DequantizeLinear", {from, net.constant(scale)}, std::move(attrs));
  };
  const Tensor quarter = Tensor::of<float>({}, {0.25});
  Value* stored = net.op("QuantizeLinear", {net.input(x), net.constant(quarter)},
                         {number("output_dtype", static_cast<int64_t>(a))});
  const Dims weights = gemm ? Dims{24, x.back()} : Dims{x.back(), 24};
  const Tensor each = uniform({24}, 0.1, 1, DType::kF32, 3);
  std::vector<Value*> inputs{steps(stored, quarter, {}),
                             steps(net.constant(codes(weights, b, 4)), each, {number("axis", gemm ? 0 : 1)})};
  if (gemm) inputs.push_back(net.constant(uniform({24}, -1, 1, DType::kF32, 5)));
  net.output(
      net.op(gemm ? "Gemm" : "MatMul", inputs, gemm ? std::vector<Attr>{number("transB", 1)} : std::vector<Attr>{}));
  return net;
}

}  // namespace

TEST_CASE("floats of 8 bits are those that ONNX defines") {
  for (const auto& [type, small] : {std::pair(kE4, gpu::Float8{4}), std::pair(kE5, gpu::Float8{5})}) {
    for (int code = 0; code < 256; ++code) {
      const float expected = small_to_float(type, static_cast<uint16_t>(code));
      const float actual = small.widen(static_cast<uint8_t>(code));
      INFO(code);
      CHECK((std::isnan(expected) ? std::isnan(actual) : actual == expected));
    }
    // Every float of 14 bits, so all ties and their neighbours.
    for (uint32_t bits = 0; bits < 1u << 14; ++bits)
      for (const uint32_t low : {0u, 1u, 0x3ffffu}) {
        const float x = std::bit_cast<float>(bits << 18 | low);
        const auto expected = static_cast<uint8_t>(float_to_small(type, x, true));
        if (std::isnan(x))
          CHECK(std::isnan(small.widen(small.narrow(x))));
        else if (small.narrow(x) != expected)
          FAIL_CHECK(x << " is " << int{small.narrow(x)} << ", not " << int{expected});
      }
  }
}

TEST_CASE("floats of 4 bits are those that ONNX defines") {
  const gpu::Float8 small{2};
  const auto code_of = [&](float x) { return small.narrow(x) >> 7 << 3 | (small.narrow(x) & 7); };
  for (int code = 0; code < 16; ++code) {
    const float x = small_to_float(DType::kF4E2M1, static_cast<uint16_t>(code));
    CHECK(small.widen(static_cast<uint8_t>(code >> 3 << 7 | (code & 7))) == x);
    CHECK(code_of(x) == code);
  }
  for (float x = -8; x < 8; x += 1.0f / 64) CHECK(code_of(x) == float_to_small(DType::kF4E2M1, x));
  CHECK(code_of(NAN) == float_to_small(DType::kF4E2M1, NAN));
}

TEST_CASE("floats of 8 bits on a GPU are read and written as the reference does") {
  const Tensor x = Tensor::of<float>({2, 4}, {0, -0.3, 1e-3, 500, -1e9, 17, 0.0625, -447});
  for (const DType type : {kE4, kE5}) {
    Net net;
    Value* in = net.input({2, 4});
    Value* stored = net.op("QuantizeLinear", {in, net.constant(Tensor::of<float>({4}, {0.5, 1, 0.3, 2}))},
                           {number("output_dtype", static_cast<int64_t>(type))});
    net.output(net.op("DequantizeLinear", {stored, net.constant(Tensor::of<float>({4}, {1, 3, 0.7, 1}))}));
    Value* narrow = net.op("Cast", {in}, {number("to", static_cast<int64_t>(type))});
    net.output(net.op("Cast", {narrow}, {number("to", static_cast<int64_t>(DType::kF16))}));
    const std::vector<Datum> inputs{x};
    const auto expected = reference_backend()->compile(net.model, {})->run(inputs);
    for (const auto& backend : {gpu_on_host(), real_gpu()}) {
      if (!backend) continue;
      const auto actual = backend->compile(net.model, {})->run(inputs);
      for (size_t i = 0; i < actual.size(); ++i) require_close(actual[i].tensor(), expected[i].tensor(), 0);
    }
  }
}

TEST_CASE("products of floats of 8 bits on a GPU") {
  for (const bool gemm : {false, true})
    for (const auto& [a, b] : {std::pair(kE4, kE4), std::pair(kE5, kE4), std::pair(kE4, kE5)})
      for (const int64_t k : {32, 37}) {
        const Dims dims = gemm ? Dims{5, k} : Dims{2, 3, k};
        const Net net = product(dims, a, b, gemm);
        Model prepared = clone(net.model);
        gpu::prepare(prepared, true);
        CHECK(listed_ops(prepared) == "MatMulIntegerToFloat 1, QuantizeLinear 1");
        const std::vector<Datum> inputs{uniform(dims, -3, 3)};
        const Tensor expected = reference_backend()->compile(net.model, {})->run(inputs)[0].tensor();
        for (const auto& backend : {gpu_on_host(), real_gpu()}) {
          if (!backend) continue;
          const auto plan = backend->compile(net.model, {});
          for (int time = 0; time < 3; ++time) require_close(plan->run(inputs)[0].tensor(), expected, 1e-5);
        }
      }
  Model before = product({5, 32}, kE4, kE4, true).model;
  gpu::prepare(before);
  CHECK(listed_ops(before) == "DequantizeLinear 2, Gemm 1, QuantizeLinear 1");
  Model both = product({5, 32}, kE5, kE5, true).model;
  gpu::prepare(both, true);
  CHECK(listed_ops(both) == "DequantizeLinear 2, Gemm 1, QuantizeLinear 1");
}

TEST_CASE("a few rows by weights that are floats of 8 bits on a GPU") {
  for (const auto& [type, gemm] : {std::pair(kE4, false), std::pair(kE4, true), std::pair(kE5, true)})
    for (const int64_t rows : {1, 6, 17})
      for (const int64_t k : {64, 37}) {
        Net net;
        Value* numbers = net.op("DequantizeLinear",
                                {net.constant(codes(gemm ? Dims{24, k} : Dims{k, 24}, type, 4)),
                                 net.constant(uniform({24}, 1e-6, 1e-3, DType::kF32, 3))},
                                {number("axis", gemm ? 0 : 1)});
        Value* bias = net.constant(uniform({24}, -0.01, 0.01, DType::kF32, 5));
        Value* x = net.input({rows, k});
        net.output(gemm ? net.op("Gemm", {x, numbers, bias}, {number("transB", 1)}) : net.op("MatMul", {x, numbers}));
        const std::vector<Datum> inputs{uniform({rows, k}, -3, 3)};
        const Tensor expected = reference_backend()->compile(net.model, {})->run(inputs)[0].tensor();
        for (const auto& backend : {gpu_on_host(), real_gpu()}) {
          if (!backend) continue;
          const auto plan = backend->compile(net.model, {});
          for (int time = 0; time < 3; ++time) require_close(plan->run(inputs)[0].tensor(), expected, 1e-6);
          const std::string kernel = plan->plan_info(inputs)->steps.back().kernel;
          CHECK((kernel == "nbits float8") == (rows <= 16));
          CompileOptions half;
          half.precision = Precision::kF16;
          require_close(backend->compile(net.model, half)->run(inputs)[0].tensor(), expected, 1e-3);
        }
      }
}

}  // namespace mlopt::test
