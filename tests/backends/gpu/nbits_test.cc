#include "backends/reference/backend.h"
#include "tests/support/cases.h"
#include "tests/support/catch.h"
#include "tests/support/gpu.h"
#include "tests/support/net.h"

namespace mlopt::test {
namespace {

Tensor codes(Dims dims, uint64_t seed) { return uniform(std::move(dims), 0, 256, DType::kU8, seed); }

void check(int64_t rows, int bits, DType type, double tolerance) {
  const int64_t n = 19, k = 72, block = 32, blocks = 3;  // the last block is a quarter full
  INFO(rows << " rows, " << bits << " bits");
  const OpOptions options{.attrs = {attr("N", 19), attr("K", 72), attr("bits", bits), attr("block_size", 32)},
                          .domain = "com.microsoft"};
  const Tensor a = uniform({rows, k}, -1, 1, type), b = codes({n, blocks, block * bits / 8}, 2),
               scales = uniform({n * blocks}, 0.01, 0.1, type, 3), bias = uniform({n}, -1, 1, type, 4);
  require_on_gpu("MatMulNBits", {a, b, scales}, options, tolerance);
  require_on_gpu("MatMulNBits", {a, b, scales, codes({n * ((blocks * bits + 7) / 8)}, 5)}, options, tolerance);
  const Tensor zeros = uniform({n * blocks}, 0, 9, type, 6);
  require_on_gpu("MatMulNBits", {a, b, scales, zeros, Datum(), bias}, options, tolerance);
}

}  // namespace

TEST_CASE("products with weights of 2, 4 and 8 bits on a GPU, for any number of rows") {
  for (const int bits : {2, 4, 8})
    for (const int64_t rows : {1, 2, 5, 16, 17}) check(rows, bits, DType::kF32, 1e-5);
  for (const int bits : {2, 4})
    for (const int64_t rows : {1, 3, 20}) check(rows, bits, DType::kF16, 5e-2);
}

TEST_CASE("weights of 2, 4 and 8 bits of many sizes on a GPU, with and without zero points") {
  int seed = 10;
  for (const int bits : {2, 4, 8}) {
    for (const int block : {16, 32, 128}) {
      seed += 4;
      const int n = 1 + seed * 7 % 40, k = 1 + seed * 53 % 300, rows = 1 + seed % 6, blocks = (k + block - 1) / block;
      const auto random = static_cast<uint64_t>(seed);
      INFO(bits << " bits, blocks of " << block << ", " << rows << " x " << k << " x " << n);
      const OpOptions options{.attrs = {attr("N", n), attr("K", k), attr("bits", bits), attr("block_size", block)},
                              .domain = "com.microsoft"};
      const std::vector<Datum> inputs{uniform({rows, k}, -1, 1, DType::kF32, random),
                                      codes({n, blocks, block * bits / 8}, random + 1),
                                      uniform({n * blocks}, 0.01, 0.1, DType::kF32, random + 2)};
      require_on_gpu("MatMulNBits", inputs, options, 1e-4);
      std::vector<Datum> with_zeros = inputs;
      with_zeros.emplace_back(codes({n * ((blocks * bits + 7) / 8)}, random + 3));
      require_on_gpu("MatMulNBits", with_zeros, options, 1e-4);
    }
  }
}

TEST_CASE("rows that are not aligned and odd sizes of weights on a GPU") {
  const OpOptions options{.attrs = {attr("N", 3), attr("K", 35), attr("block_size", 16)}, .domain = "com.microsoft"};
  require_on_gpu("MatMulNBits",
                 {uniform({2, 1, 35}, -1, 1), codes({3, 3, 8}, 2), uniform({3, 3}, 0.01, 0.1, DType::kF32, 3)},
                 options);
}

TEST_CASE("weights of a few bits that are no constants may lie anywhere on a GPU") {
  Net net;
  net.model.set_opset("com.microsoft", 1);
  Value* x = net.input({2, 32});
  Value* all = net.graph().add_input("codes", Type::tensor(DType::kU8, {1 + 3 * 16}));
  Value* odd = net.op("Slice", {all, net.constant(Tensor::ints({1})), net.constant(Tensor::ints({1 + 3 * 16}))});
  odd = net.op("Reshape", {odd, net.constant(Tensor::ints({3, 1, 16}))});
  const std::vector<Attr> attrs{attr("N", 3), attr("K", 32), attr("bits", 4), attr("block_size", 32)};
  Value* scales = net.constant(uniform({3}, 0.01, 0.1));
  net.output(net.graph().add_op("MatMulNBits", {x, odd, scales}, attrs, nullptr, "y", 1, "com.microsoft")->output(0));
  const std::vector<Datum> inputs{uniform({2, 32}, -1, 1), codes({1 + 3 * 16}, 2)};
  const Tensor expected = reference_backend()->compile(net.model, {})->run(inputs)[0].tensor();
  require_close(gpu_on_host()->compile(net.model, {})->run(inputs)[0].tensor(), expected, 1e-5);
}

}  // namespace mlopt::test
