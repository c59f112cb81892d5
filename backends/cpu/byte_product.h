#pragma once
#include <memory>
#include <vector>

#include "backends/cpu/operand.h"
#include "backends/cpu/product.h"
#include "backends/cpu/quantized.h"

namespace mlopt::cpu {

/// A constant right matrix [K, N] of 8 bits (stored as [N, K] when swapped) and its packed forms, made when first
/// needed.
struct RightMatrix {
  ByteWeights weights;
  bool swapped = false;
  std::shared_ptr<Packed> bytes = {}, floats = {};
};

/// The left matrix of one run; row-major.
struct LeftMatrix {
  Bytes numbers;
  int32_t zero;
};

/// Sums of (a - a_zero)(b - b_zero). Where 8 bit products are exact it is a primitive over integers, elsewhere one over
/// the integers as float32, which rounds sums beyond 2^24 in the last place.
class ByteProduct {
 public:
  /// Plans the product with a constant right matrix. Declines what has no fast primitive.
  static Expected<ByteProduct> plan(const Product& product, DType left, RightMatrix& right);
  /// As plan(), for a right operand of the call with one zero point.
  static Expected<ByteProduct> plan(const Product& product);
  /// As plan(), with exact sums in int32.
  static Expected<ByteProduct> plan_exact(const Product& product, DType left, RightMatrix& right);

  /// `sums`: [batch, m, n] row-major, float32 (or int32 after plan_exact).
  void run(const LeftMatrix& a, void* sums, Workspace& space) const { run(a, {}, sums, space); }
  /// `b` is used where the right operand is not constant.
  void run(const LeftMatrix& a, const LeftMatrix& b, void* sums, Workspace& space) const;

 private:
  static Expected<ByteProduct> plan_bytes(const Product& product, DType left, RightMatrix& right, Elem sums);
  static Expected<ByteProduct> plan_floats(const Product& product, RightMatrix* right);
  void subtract_zeros(const LeftMatrix& a, float* sums) const;
  void round_sums(void* sums) const;

  Product product_;
  Op op_;
  Desc source_, right_, sums_;
  Memory weights_;
  bool widens_ = false;             ///< the primitive multiplies float32
  bool rounds_ = false;             ///< float32 sums become int32
  std::vector<float> right_zeros_;  ///< for each column; empty: 0, or taken off before
};

}  // namespace mlopt::cpu
