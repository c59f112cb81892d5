#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "core/tensor/tensor.h"

namespace mlopt::cpu {

/// Weights [n, k] of 2, 4 or 8 bits, with a scale for each block of k, as com.microsoft.MatMulNBits stores them.
struct StoredBlocks {
  int bits = 4;
  int64_t n = 0, k = 0;
  int64_t size = 0;                ///< of a block, a multiple of the codes of a word of 32 bits
  const uint8_t* codes = nullptr;  ///< [n, blocks, size bits / 8], the lowest bits of a byte first
  const float* scales = nullptr;   ///< [n, blocks]
  const float* zeros = nullptr;    ///< [n, blocks], in codes; null: 2^(bits - 1)
  const float* levels = nullptr;   ///< [16], what codes of 4 bits stand for; null: the codes without their zeros

  int64_t blocks() const { return (k + size - 1) / size; }
};

/// The same in the order in which rows are multiplied by them: codes of neighbouring k in a word, and the words of the
/// columns of a panel side by side.
class PackedBlocks {
 public:
  explicit PackedBlocks(const StoredBlocks& from);

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
  void pack(const StoredBlocks& from, int64_t panel);

  int bits_;
  int64_t n_, k_, size_;
  float first_, zero_ = 0;  ///< the code that is multiplied as 0; of all blocks where zeros_ is nothing
  int64_t width_;
  Tensor words_, scales_;
  std::optional<Tensor> zeros_;
  std::optional<std::array<float, 16>> levels_;
};

}  // namespace mlopt::cpu
