#include "backends/cpu/block_product.h"

#include "backends/cpu/targets.h"
#include "core/tensor/codes.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/block_product.cc"
#include <hwy/foreach_target.h>

#include "backends/cpu/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mlopt::cpu::HWY_NAMESPACE {
namespace {

constexpr int kVectors = 4;

int64_t PanelWidth() { return kVectors * static_cast<int64_t>(hn::Lanes(F())); }

/// sums += x code for the codes of a word of each column.
template <int kBits>
HWY_INLINE void add_words(const uint32_t* words, const float* x, V* sums) {
  const F d;
  const hn::RebindToUnsigned<F> bits;
  const hn::RebindToSigned<F> integers;
  const size_t lanes = hn::Lanes(d);
  const auto low = hn::Set(bits, (1 << kBits) - 1);
  decltype(hn::Zero(bits)) word[kVectors];
  HWY_UNROLL(4)
  for (int v = 0; v < kVectors; ++v) word[v] = hn::LoadU(bits, words + static_cast<size_t>(v) * lanes);
  HWY_UNROLL(8)
  for (int i = 0; i < 32 / kBits; ++i) {
    const V factor = constant(x[i]);
    HWY_UNROLL(4)
    for (int v = 0; v < kVectors; ++v) {
      const V code = hn::ConvertTo(d, hn::BitCast(integers, hn::And(word[v], low)));
      sums[v] = hn::MulAdd(code, factor, sums[v]);
      word[v] = hn::ShiftRight<kBits>(word[v]);
    }
  }
}

template <int kBits>
void multiply(const PackedBlocks& w, int64_t panel, const float* x, const float* sums, float* out) {
  const F d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const uint32_t* words = w.words(panel);
  const float *scales = w.scales(panel), *offsets = w.offsets(panel);
  V all[kVectors];
  for (V& v : all) v = hn::Zero(d);
  for (int64_t block = 0; block < w.blocks(); ++block) {
    V products[kVectors];
    for (V& v : products) v = hn::Zero(d);
    constexpr int64_t kInWord = 32 / kBits;
    for (int64_t i = 0; i < w.block_size(); i += kInWord, x += kInWord, words += w.width())
      add_words<kBits>(words, x, products);
    const V sum = constant(sums[block]);
    HWY_UNROLL(4)
    for (int v = 0; v < kVectors; ++v) {
      all[v] = hn::MulAdd(products[v], hn::LoadU(d, scales + v * lanes), all[v]);
      all[v] = hn::NegMulAdd(sum, hn::LoadU(d, offsets + v * lanes), all[v]);
    }
    scales += w.width(), offsets += w.width();
  }
  for (int v = 0; v < kVectors; ++v) hn::StoreU(all[v], d, out + v * lanes);
}

void MultiplyPanel(const PackedBlocks& w, int64_t panel, const float* x, const float* sums, float* out) {
  if (w.bits() == 2) return multiply<2>(w, panel, x, sums, out);
  if (w.bits() == 4) return multiply<4>(w, panel, x, sums, out);
  multiply<8>(w, panel, x, sums, out);
}

}  // namespace
}  // namespace mlopt::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mlopt::cpu {

HWY_EXPORT(PanelWidth);
HWY_EXPORT(MultiplyPanel);

namespace {

constexpr int64_t kWordBytes = 4;

uint32_t word_at(const uint8_t* bytes) {
  uint32_t word = 0;
  for (int64_t i = kWordBytes; i-- > 0;) word = word << 8 | bytes[i];
  return word;
}

int zero_at(const StoredBlocks& from, int64_t column, int64_t block) {
  if (!from.zeros) return 1 << (from.bits - 1);
  const int64_t row = (from.blocks() * from.bits + 7) / 8;
  return code_at(from.zeros + column * row, from.bits, block);
}

}  // namespace

PackedBlocks::PackedBlocks(const StoredBlocks& from)
    : bits_(from.bits),
      n_(from.n),
      k_(from.k),
      size_(from.size),
      blocks_(from.blocks()),
      width_(HWY_DYNAMIC_DISPATCH(PanelWidth)()),
      words_(static_cast<size_t>(panels() * width_ * words_of_column())),
      scales_(static_cast<size_t>(panels() * width_ * blocks_)),
      offsets_(scales_.size()) {
  const int64_t words = words_of_column();
  for (int64_t column = 0; column < n_; ++column) {
    const int64_t panel = column / width_, place = column % width_;
    for (int64_t i = 0; i < words; ++i)
      words_[static_cast<size_t>((panel * words + i) * width_ + place)] =
          word_at(from.codes + (column * words + i) * kWordBytes);
    for (int64_t b = 0; b < blocks_; ++b) {
      const auto at = static_cast<size_t>((panel * blocks_ + b) * width_ + place);
      scales_[at] = from.scales[column * blocks_ + b];
      offsets_[at] = scales_[at] * static_cast<float>(zero_at(from, column, b));
    }
  }
}

size_t PackedBlocks::bytes() const {
  return words_.size() * sizeof(uint32_t) + (scales_.size() + offsets_.size()) * sizeof(float);
}

void multiply_panel(const PackedBlocks& weights, int64_t panel, const float* x, const float* sums, float* out) {
  HWY_DYNAMIC_DISPATCH(MultiplyPanel)(weights, panel, x, sums, out);
}

}  // namespace mlopt::cpu
#endif  // HWY_ONCE
