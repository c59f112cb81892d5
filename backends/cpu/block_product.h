#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace mlopt::cpu {

/// Weights [n, k] of 2, 4 or 8 bits, with a scale and a zero point for each block of k, as com.microsoft.MatMulNBits
/// stores them.
struct StoredBlocks {
  int bits = 4;
  int64_t n = 0, k = 0;
  int64_t size = 0;                ///< of a block, a multiple of the codes of a word of 32 bits
  const uint8_t* codes = nullptr;  ///< [n, blocks, size bits / 8], the lowest bits of a byte first
  const float* scales = nullptr;   ///< [n, blocks]
  const uint8_t* zeros = nullptr;  ///< [n, blocks], each row packed like the codes; null: 2^(bits - 1)

  int64_t blocks() const { return (k + size - 1) / size; }
};

/// The same in the order in which a row is multiplied by them: codes of neighbouring k in a word, and the words of as
/// many columns as four vectors have side by side.
class PackedBlocks {
 public:
  explicit PackedBlocks(const StoredBlocks& from);

  int bits() const { return bits_; }
  int64_t n() const { return n_; }
  int64_t k() const { return k_; }
  int64_t block_size() const { return size_; }
  int64_t blocks() const { return blocks_; }
  /// Columns of a panel, and how many of these there are.
  int64_t width() const { return width_; }
  int64_t panels() const { return (n_ + width_ - 1) / width_; }
  size_t bytes() const;

  const uint32_t* words(int64_t panel) const { return words_.data() + panel * words_of_column() * width_; }
  /// [blocks, width]: scales, and scales times zero points.
  const float* scales(int64_t panel) const { return scales_.data() + panel * blocks_ * width_; }
  const float* offsets(int64_t panel) const { return offsets_.data() + panel * blocks_ * width_; }

 private:
  int64_t words_of_column() const { return blocks_ * size_ * bits_ / 32; }

  int bits_;
  int64_t n_, k_, size_, blocks_, width_;
  std::vector<uint32_t> words_;
  std::vector<float> scales_, offsets_;
};

/// out[width of a panel] = x W of the panel's columns, on the calling thread; x has blocks() * block_size() numbers,
/// zeros beyond k, and `sums` are those of its blocks. Columns beyond n are 0.
void multiply_panel(const PackedBlocks& weights, int64_t panel, const float* x, const float* sums, float* out);

}  // namespace mlopt::cpu
