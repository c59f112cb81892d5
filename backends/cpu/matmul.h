#pragma once
#include "backends/cpu/activation.h"
#include "backends/cpu/product.h"
#include "core/exec/kernel.h"

namespace mlopt::cpu {

/// activation(alpha A B + bias + beta C) of MatMul, Gemm and their fused forms.
struct MatMul {
  enum Input { kLeft, kRight };
  bool swap_left = false, swap_right = false;
  float alpha = 1, beta = 1;
  Activation act = {};
  /// The inputs of one row that is added to every row of the product, and of C, which broadcasts to it; -1: none.
  int bias = -1, addend = -1;
};

/// The tiles of packed_product.h are expected to multiply [m, k] and [k, n] faster than oneDNN's primitives.
bool prefers_tiles(int64_t m, int64_t k, int64_t n, bool constant_right);

/// The tiles multiply the node's constant [k, n] faster than oneDNN's primitives even where these reach the peak.
bool waits_for_weights(int64_t m, int64_t k, int64_t n, const Node& node);

/// The right operand where it is one constant matrix, else null.
const Tensor* constant_right(const Site& site);

// Plans of a product whose operands are float32 and fit. Rows by one column, the first declines anything else.
Expected<PlannedStep> plan_vector(const MatMul& s, const Product& product, const Site& site);
PlannedStep plan_tiles(const MatMul& s, const Product& product, const Site& site);
Expected<PlannedStep> plan_primitive(const MatMul& s, const Product& product, const Site& site);

}  // namespace mlopt::cpu
