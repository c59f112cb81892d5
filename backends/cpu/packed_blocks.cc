#include "backends/cpu/packed_blocks.h"

#include <algorithm>

#include "backends/cpu/block_product.h"
#include "core/base/parallel.h"

namespace mlopt::cpu {
namespace {

constexpr int64_t kWordBytes = 4;

/// The codes of four bytes as take() takes them.
uint32_t word_at(const uint8_t* bytes, int bits) {
  uint32_t word = 0;
  for (int64_t i = 0; i < kWordBytes; ++i) word |= static_cast<uint32_t>(bytes[bits == 8 ? 3 - i : i]) << (8 * i);
  if (bits == 8) return word ^ 0x80808080U;
  if (bits == 2) return word;
  const auto apart = [](uint32_t half) {  // a nibble of nothing behind each
    half = (half | half << 8) & 0x00FF00FFU;
    return (half | half << 4) & 0x0F0F0F0FU;
  };
  return apart(word & 0xFFFF) | apart(word >> 16) << 4;
}

bool all_are(const Tensor& numbers, float value) {
  const auto* first = numbers.data<float>();
  return std::all_of(first, first + numbers.size(), [&](float x) { return x == value; });
}

}  // namespace

PackedBlocks::PackedBlocks(const StoredWeights& from)
    : bits_(from.bits),
      n_(from.n),
      k_(from.k),
      size_(from.size),
      first_(bits_ == 8 ? 128 : 0),
      width_(block_panel_width()),
      words_(DType::kU32, {panels(), words_of_column(), width_}),
      scales_(DType::kF32, {panels(), blocks(), width_}),
      levels_(from.levels) {
  const auto middle = static_cast<float>(1 << (bits_ - 1));
  if (!levels_ && !all_are(from.zeros, middle)) zeros_.emplace(DType::kF32, scales_.dims());
  if (!levels_ && !zeros_) zero_ = middle - first_;
  parallel_for(panels(), 1, [&](int64_t begin, int64_t end) {
    for (int64_t panel = begin; panel < end; ++panel) pack(from, panel);
  });
}

void PackedBlocks::pack(const StoredWeights& from, int64_t panel) {
  const int64_t words = words_of_column(), first = panel * width_, columns = std::min(width_, n_ - first);
  uint32_t* to = words_.mutable_data<uint32_t>() + panel * words * width_;
  for (int64_t i = 0; i < words; ++i)
    for (int64_t c = 0; c < width_; ++c)
      *to++ = c < columns ? word_at(from.codes.data<uint8_t>() + ((first + c) * words + i) * kWordBytes, bits_) : 0;
  const auto numbers = [&](Tensor& out, const Tensor& given, float minus) {
    const auto* in = given.data<float>();
    float* number = out.mutable_data<float>() + panel * blocks() * width_;
    for (int64_t b = 0; b < blocks(); ++b)
      for (int64_t c = 0; c < width_; ++c) *number++ = c < columns ? in[(first + c) * blocks() + b] - minus : 0;
  };
  numbers(scales_, from.scales, 0);
  if (zeros_) numbers(*zeros_, from.zeros, first_);
}

size_t PackedBlocks::bytes() const { return words_.bytes() + scales_.bytes() + (zeros_ ? zeros_->bytes() : 0); }

}  // namespace mlopt::cpu
