#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "core/ir/stored_weights.h"

namespace mlopt::cpu {

/// Weights [n, k] of whole words for each block, in the order in which rows are multiplied by them: codes of
/// neighbouring k in a word, and the words of the columns of a panel side by side.
class PackedBlocks {
 public:
  explicit PackedBlocks(const StoredWeights& from);

  int bits() const { return bits_; }
  int64_t n() const { return n_; }
  int64_t k() const { return k_; }
  int64_t block_size() const { return size_; }
  int64_t blocks() const { return (k_ + size_ - 1) / size_; }
  /// Columns of a panel, and how many of these there are.
  int64_t width() const { return width_; }
  int64_t panels() const { return (n_ + width_ - 1) / width_; }
  size_t bytes() const;

  const uint32_t* words(int64_t panel) const { return words_.data<uint32_t>() + panel * words_of_column() * width_; }
  /// [blocks, width]: scales, and zero points, null where all are zero().
  const float* scales(int64_t panel) const { return scales_.data<float>() + panel * blocks() * width_; }
  const float* zeros(int64_t panel) const {
    return zeros_ ? zeros_->data<float>() + panel * blocks() * width_ : nullptr;
  }
  float zero() const { return zero_; }
  /// [16], or null.
  const float* levels() const { return levels_ ? levels_->data() : nullptr; }

 private:
  int64_t words_of_column() const { return blocks() * size_ * bits_ / 32; }
  void pack(const StoredWeights& from, int64_t panel);

  int bits_;
  int64_t n_, k_, size_;
  float first_, zero_ = 0;  ///< the code that is multiplied as 0; of all blocks where zeros_ is nothing
  int64_t width_;
  Tensor words_, scales_;
  std::optional<Tensor> zeros_;
  const std::array<float, 16>* levels_;
};

}  // namespace mlopt::cpu
