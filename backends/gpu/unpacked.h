#pragma once
#include "backends/gpu/operand.h"

namespace mlopt::gpu {

/// Up to so many rows, weights are read as they are stored once for every four of them; for more they are unpacked.
constexpr int64_t kFewRows = 16;

/// out [m, n] = a [m, k] times the weights [n, k] that were unpacked to the scratch, transposed, plus bias where given.
struct UnpackedProduct {
  Elem type;
  bool tf32;
  int64_t m, n, k;
  const void *a, *bias;
};
inline void multiply_unpacked(const Buffers& b, const UnpackedProduct& of) {
  ProductArgs product{};
  product.type = of.type;
  product.tf32 = of.tf32;
  product.b_transposed = true;
  product.batch = 1;
  product.m = of.m;
  product.n = of.n;
  product.k = of.k;
  product.alpha = 1;
  product.a = of.a;
  product.b = b.scratch;
  product.bias = of.bias;
  product.out = b.out<void>(0);
  launch(b, &Kernels::product, product);
}

}  // namespace mlopt::gpu
