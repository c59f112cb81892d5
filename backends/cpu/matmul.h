#pragma once
#include "backends/cpu/activation.h"
#include "backends/cpu/product.h"
#include "core/exec/kernel.h"

namespace mlopt::cpu {

/// activation(alpha A B + beta C): inputs 0 to 2 of MatMul, Gemm and their fused forms.
struct MatMul {
  enum Input { kLeft, kRight, kAddend };
  bool swap_left = false, swap_right = false;
  float alpha = 1, beta = 1;
  Activation act = {};
};

/// C is one row that is added to every row of the product.
bool is_bias(const Product& product, const Dims& addend);

/// The tiles of packed_product.h are expected to multiply [m, k] and [k, n] faster than oneDNN's primitives.
bool prefers_tiles(int64_t m, int64_t k, int64_t n, bool constant_right);

/// The right operand where it is one constant matrix, else null.
const Tensor* constant_right(const Site& site);

// Plans of a product whose operands are float32 and fit; `addend`: C is given and beta is not 0.
Expected<PlannedStep> plan_tiles(const MatMul& s, const Product& product, const Site& site, bool addend);
Expected<PlannedStep> plan_primitive(const MatMul& s, const Product& product, const Site& site, bool addend);

}  // namespace mlopt::cpu
