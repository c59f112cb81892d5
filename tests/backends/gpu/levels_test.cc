#include "tests/support/cases.h"
#include "tests/support/catch.h"
#include "tests/support/gpu.h"

namespace mlopt::test {
namespace {

struct Sizes {
  int rows, n, k, block;
};

void check(const Sizes& s, DType type, DType scale_type, double tolerance) {
  const int count = s.n * s.k;
  const Tensor a = uniform({s.rows, s.k}, -1, 1, type), b = uniform({(count + 1) / 2}, 0, 256, DType::kU8, 2),
               scales = uniform({(count + s.block - 1) / s.block}, 0.1, 1, scale_type, 3);
  for (const int kind : {0, 1}) {
    INFO(s.rows << " x " << s.k << " x " << s.n << " in blocks of " << s.block << ", kind " << kind);
    const OpOptions options{
        .attrs = {attr("N", s.n), attr("K", s.k), attr("block_size", s.block), attr("quant_type", kind)},
        .domain = "com.microsoft"};
    require_on_gpu("MatMulBnb4", {a, b, scales}, options, tolerance);
  }
}

}  // namespace

TEST_CASE("products with nf4 and fp4 weights on a GPU, for any number of rows") {
  for (const int rows : {1, 2, 5, 16, 17}) check({rows, 19, 96, 32}, DType::kF32, DType::kF32, 1e-5);
  for (const int rows : {1, 3, 20})
    for (const DType scales : {DType::kF16, DType::kF32}) check({rows, 19, 96, 32}, DType::kF16, scales, 5e-2);
}

TEST_CASE("blocks of nf4 and fp4 weights that run from one row into the next on a GPU") {
  check({3, 5, 48, 32}, DType::kF32, DType::kF32, 1e-5);  // where words still lie in one block
  check({1, 7, 80, 256}, DType::kF32, DType::kF32, 1e-5);
  check({2, 3, 35, 16}, DType::kF32, DType::kF32, 1e-5);  // where rows begin within a byte
  check({1, 4, 32, 8}, DType::kF32, DType::kF32, 1e-5);
}

}  // namespace mlopt::test
