#pragma once
#include <memory>

#include "backends/cpu/activation.h"
#include "backends/cpu/operand.h"
#include "backends/cpu/packed_product.h"
#include "backends/cpu/product.h"

namespace mlopt::cpu {

/// A constant matrix [K, N] (stored as [N, K] when swapped) and its packed forms, each made when a plan first asks for
/// it. Only planners, which a step runs one at a time, may call it.
class ConstantRight {
 public:
  ConstantRight(const Tensor& b, bool swapped);
  const std::shared_ptr<Packed>& for_primitives() const { return primitives_; }
  std::shared_ptr<const PackedMatrix> for_tiles();

 private:
  Tensor tensor_;
  bool swapped_;
  std::shared_ptr<Packed> primitives_;
  std::shared_ptr<const PackedMatrix> tiles_;
};

/// activation(alpha A B + beta C): inputs 0 to 2 of MatMul, Gemm and their fused forms.
struct MatMul {
  enum Input { kLeft, kRight, kAddend };
  bool swap_left = false, swap_right = false;
  float alpha = 1, beta = 1;
  Activation act = {};
  std::shared_ptr<ConstantRight> right = {};  ///< null: not a constant matrix
};

/// C is one row that is added to every row of the product.
bool is_bias(const Product& product, const Dims& addend);

/// The tiles of packed_product.h are expected to be faster than oneDNN's primitives here.
bool prefers_tiles(const Product& product, bool constant_right);

// Plans of a product whose operands are float32 and fit; `addend`: C is given and beta is not 0.
Step plan_tiles(const std::shared_ptr<const MatMul>& s, const Product& product, const Call& call, bool addend);
Expected<Step> plan_primitive(const std::shared_ptr<const MatMul>& s, const Product& product, const Call& call,
                              bool addend);

}  // namespace mlopt::cpu
