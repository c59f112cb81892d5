#pragma once
#include <memory>
#include <utility>
#include <vector>

#include "backends/cpu/byte_conv.h"
#include "backends/cpu/primitive.h"
#include "backends/cpu/product.h"
#include "backends/cpu/quantized.h"

namespace mlopt::cpu {

/// The left matrix of a product of integers, row-major: an input of the step, or in its scratch.
struct ByteLeft {
  DType type = DType::kU8;
  int input = -1;
  size_t at = 0;  ///< in the scratch where there is no input

  Bytes in(const Buffers& b) const { return {input < 0 ? b.scratch + at : b.in<std::byte>(input), type == DType::kI8}; }
};

/// The right matrix: [K, N], stored as [N, K] when swapped.
struct ByteRight {
  int input = 1;
  DType type = DType::kI8;
  bool swapped = false;
  const Tensor* constant = nullptr;  ///< of two axes; null: known only at run time, with one zero point
  std::vector<int32_t> zeros = {0};  ///< of the constant: one, or one for each column
};

/// Sums of (a - a_zero)(b - b_zero), exact, and what becomes of them. With a constant right matrix it is a primitive
/// where the processor adds up products of bytes in 32 bits; else it is our tiles.
class ByteProduct {
 public:
  /// `scratch`: bytes that are taken already.
  ByteProduct(const Product& product, const ByteLeft& left, const ByteRight& right, const Site& site, size_t scratch);

  size_t scratch_bytes() const { return scratch_bytes_; }  ///< what is taken already included
  bool packs_right() const { return packed_ || primitive_; }
  size_t packed_bytes() const { return primitive_ ? primitive_->packed_bytes() : packed_ ? packed_->bytes() : 0; }
  std::string label() const { return primitive_ ? primitive_->name() : "byte tiles"; }
  /// finish.out is output 0: [batch, m, n] row-major.
  void run(const Buffers& b, int32_t left_zero, int32_t right_zero, const ByteFinish& finish) const;

 private:
  bool plan_primitive(const Site& site);
  void plan_tiles(const Site& site);
  size_t take(size_t bytes);
  void run_primitive(const Buffers& b, int32_t left_zero, const ByteFinish& finish) const;
  void subtract_zeros(Bytes left, int32_t left_zero, int32_t* sums, int64_t row) const;

  Product product_;
  ByteLeft left_;
  ByteRight right_;
  size_t scratch_bytes_;

  std::shared_ptr<const Primitive> primitive_;  ///< null: tiles
  size_t zero_at_ = 0, sums_at_ = 0;

  std::shared_ptr<const ByteConv> conv_;
  std::shared_ptr<const PackedTaps> packed_;        ///< null: packed in each run
  std::vector<std::pair<int64_t, int64_t>> batch_;  ///< where the matrices of each product begin, in elements
  size_t packed_at_ = 0, conv_at_ = 0;
};

}  // namespace mlopt::cpu
