#include "core/tensor/cast.h"
#include "tests/support/catch.h"
#include "tests/support/net.h"

namespace mlopt::test {
namespace {

constexpr int64_t kK = 136, kN = 130;
constexpr const char* kByCodes = "MatMulNBits 1";

struct Stored {
  DType type = DType::kI8;
  double low = -127, high = 128;
  bool turned = false;  ///< [n, k]
  Dims scales = {kN};
  int64_t axis = 1, block = 0;
  bool zeros = true;
};

Value* stored(Net& net, const Stored& s) {
  Tensor codes = uniform(s.turned ? Dims{kN, kK} : Dims{kK, kN}, s.low, s.high, DType::kF32, 3);
  std::vector<Value*> inputs{net.constant(cast(codes, s.type)), net.constant(uniform(s.scales, 0.001, 0.002))};
  if (s.zeros) inputs.push_back(net.constant(cast(uniform(s.scales, s.low, s.high, DType::kF32, 5), s.type)));
  return net.op("DequantizeLinear", inputs, {{"axis", s.axis, ""}, {"block_size", s.block, ""}});
}

Net matmul(const Stored& s, bool transpose = false) {
  Net net;
  Value *x = net.input({3, kK}), *w = stored(net, s);
  net.output(net.op("MatMul", {x, transpose ? net.op("Transpose", {w}) : w}));
  return net;
}

}  // namespace

TEST_CASE("products by dequantized integers are products by their codes") {
  const std::vector<Stored> all = {
      {},
      {.zeros = false},
      {.scales = {}},
      {.type = DType::kU8, .low = 0, .high = 256},
      {.type = DType::kU8, .low = 0, .high = 16},
      {.low = -8, .high = 8},
      {.low = -2, .high = 2},
      {.type = DType::kI4, .low = -8, .high = 8},
      {.type = DType::kU4, .low = 0, .high = 16},
      {.type = DType::kI4, .low = -8, .high = 8, .scales = {5, kN}, .axis = 0, .block = 32},
      {.type = DType::kU8, .low = 0, .high = 256, .scales = {3, kN}, .axis = -2, .block = 64},
  };
  for (size_t i = 0; i < all.size(); ++i) {
    INFO(i);
    const Net net = matmul(all[i]);
    CHECK(prepared_ops(net.model) == kByCodes);
    require_same_result(net.model, 1e-4, true);
  }
}

TEST_CASE("weights may lie turned, in a Gemm or before a Transpose, and have a bias") {
  for (const Stored& s :
       {Stored{.turned = true, .axis = 0},
        Stored{.type = DType::kI4, .low = -8, .high = 8, .turned = true, .scales = {kN, 5}, .block = 32}}) {
    const Net turned = matmul(s, true);
    CHECK(prepared_ops(turned.model) == kByCodes);
    require_same_result(turned.model, 1e-4, true);
    Net gemm;
    Value *x = gemm.input({3, kK}), *w = stored(gemm, s);
    gemm.output(gemm.op("Gemm", {x, w, gemm.constant(uniform({1, kN}, -1, 1))}, {{"transB", int64_t{1}, ""}}));
    CHECK(prepared_ops(gemm.model) == kByCodes);
    require_same_result(gemm.model, 1e-4, true);
  }
}

TEST_CASE("products of other kinds stay products by floats") {
  const auto stays = [](const Net& net) {
    require_same_result(net.model, 1e-4);
    return prepared_ops(net.model).find("MatMulNBits") == std::string::npos;
  };
  CHECK(stays(matmul({.scales = {kK}, .axis = 0})));                      // scales of the inner axis
  CHECK(stays(matmul({.scales = {kK / 8, kN}, .axis = 0, .block = 8})));  // of short blocks
  CHECK(
      stays(matmul({.turned = true, .scales = {kN / 26, kK}, .axis = 0, .block = 26}, true)));  // of blocks of outputs
  Net scaled;
  Value* x = scaled.input({3, kK});
  scaled.output(scaled.op("Gemm", {x, stored(scaled, {})}, {{"alpha", 0.5f, ""}}));
  CHECK(stays(scaled));
  Net swapped;
  x = swapped.input({kK, 3});
  swapped.output(swapped.op("Gemm", {x, stored(swapped, {})}, {{"transA", int64_t{1}, ""}}));
  CHECK(stays(swapped));
  Net small;
  small.output(small.op("MatMul", {small.input({3, 24}), small.weights({24, 20}, 1)}));
  CHECK(stays(small));
  Net integers;
  integers.output(integers.op(
      "MatMul", {integers.rounded(integers.input({3, kK}), 0.02, 128), stored(integers, {.zeros = false})}));
  CHECK(prepared_ops(integers.model).find("MatMulNBits") == std::string::npos);
}

}  // namespace mlopt::test
