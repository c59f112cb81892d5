#include "backends/cpu/block_product.h"

#include <algorithm>

#include "backends/cpu/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/block_product.cc"
#include <hwy/foreach_target.h>

#include "backends/cpu/block-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mlopt::cpu::HWY_NAMESPACE {
namespace {

using Words = hn::Vec<hn::RebindToUnsigned<F>>;

int64_t PanelWidth() { return kVectors * static_cast<int64_t>(hn::Lanes(F())); }

HWY_INLINE Words words_at(const uint32_t* words) { return hn::LoadU(hn::RebindToUnsigned<F>(), words); }

/// Of the code that is taken i-th from a word: those of four bits lie so that bytes of neighbours are a mask away.
template <int kBits>
constexpr int64_t place_of(int64_t i) {
  return kBits == 4 ? i % 2 * 4 + i / 2 : i;
}

/// Codes of 2 and 4 bits as numbers from 0 on, the first in the lowest bits.
template <int kCodeBits>
struct Uniform {
  static constexpr int kBits = kCodeBits;

  /// The next code of each word, which is dropped from it.
  HWY_INLINE V take(Words& word) const {
    const auto code = hn::And(word, hn::Set(hn::RebindToUnsigned<F>(), (1 << kBits) - 1));
    word = hn::ShiftRight<kBits>(word);
    return hn::ConvertTo(F(), hn::BitCast(hn::RebindToSigned<F>(), code));
  }
};

/// Codes of 8 bits as numbers from -128 on, the first in the highest bits: around zero, sums keep their digits.
struct Bytes {
  static constexpr int kBits = 8;

  HWY_INLINE V take(Words& word) const {
    const V code = hn::ConvertTo(F(), hn::ShiftRight<24>(hn::BitCast(hn::RebindToSigned<F>(), word)));
    word = hn::ShiftLeft<8>(word);
    return code;
  }
};

/// Codes of 4 bits as places in a list.
struct Listed {
  static constexpr int kBits = 4;
  const float* levels;

  HWY_INLINE V take(Words& word) const {
    const F d;
    const auto place = hn::And(word, hn::Set(hn::RebindToUnsigned<F>(), (1 << kBits) - 1));
    word = hn::ShiftRight<kBits>(word);
#if HWY_TARGET <= HWY_AVX3
    return hn::TableLookupLanes(hn::LoadU(d, levels), hn::IndicesFromVec(d, place));
#else
    return hn::GatherIndex(d, levels, hn::BitCast(hn::RebindToSigned<F>(), place));
#endif
  }
};

template <class Fn>
void with_codes(const PackedBlocks& w, const Fn& fn) {
  if (w.levels()) return fn(Listed{w.levels()});
  if (w.bits() == 2) return fn(Uniform<2>());
  if (w.bits() == 4) return fn(Uniform<4>());
  fn(Bytes());
}

/// sums += x code for the codes of a word of each column.
template <int kRows, class Codes>
HWY_INLINE void add_words(const Codes& codes, const uint32_t* words, const float* x, int64_t stride,
                          V (&sums)[kRows][kVectors]) {
  const size_t lanes = hn::Lanes(F());
  Words word[kVectors];
  HWY_UNROLL(4)
  for (int v = 0; v < kVectors; ++v) word[v] = words_at(words + static_cast<size_t>(v) * lanes);
  HWY_UNROLL(8)
  for (int i = 0; i < 32 / Codes::kBits; ++i) {
    V code[kVectors];
    HWY_UNROLL(4)
    for (int v = 0; v < kVectors; ++v) code[v] = codes.take(word[v]);
    HWY_UNROLL(4)
    for (int r = 0; r < kRows; ++r) {
      const V factor = constant(x[r * stride + place_of<Codes::kBits>(i)]);
      HWY_UNROLL(4)
      for (int v = 0; v < kVectors; ++v) sums[r][v] = hn::MulAdd(code[v], factor, sums[r][v]);
    }
  }
}

/// sums -= zero points times the sums of a block of x.
template <int kRows>
HWY_INLINE void take_zeros(const Zeros& zeros, const float* x_sums, int64_t stride, V (&sums)[kRows][kVectors]) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(F()));
  HWY_UNROLL(4)
  for (int v = 0; v < kVectors; ++v) {
    const V zero = zeros.at(v * lanes);
    HWY_UNROLL(4)
    for (int r = 0; r < kRows; ++r) sums[r][v] = hn::NegMulAdd(constant(x_sums[r * stride]), zero, sums[r][v]);
  }
}

template <int kRows, class Codes>
HWY_INLINE void multiply(const PackedBlocks& w, const Codes& codes, int64_t panel, const float* x, int64_t stride,
                         float* out, int64_t out_stride) {
  const F d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const uint32_t* words = w.words(panel);
  const float *scales = w.scales(panel), *x_sums = x + w.blocks() * w.block_size();
  Zeros zeros{w.zeros(panel), w.zero()};
  V all[kRows][kVectors];
  set_zero(all);
  for (int64_t block = 0; block < w.blocks(); ++block) {
    V sums[kRows][kVectors];
    set_zero(sums);
    constexpr int64_t kInWord = 32 / Codes::kBits;
    for (int64_t i = 0; i < w.block_size(); i += kInWord, x += kInWord, words += w.width())
      add_words<kRows>(codes, words, x, stride, sums);
    if (zeros.any()) take_zeros<kRows>(zeros, x_sums + block, stride, sums);
    HWY_UNROLL(4)
    for (int v = 0; v < kVectors; ++v) {
      const V scale = hn::LoadU(d, scales + v * lanes);
      HWY_UNROLL(4)
      for (int r = 0; r < kRows; ++r) all[r][v] = hn::MulAdd(sums[r][v], scale, all[r][v]);
    }
    scales += w.width();
    zeros = zeros.from(w.width());
  }
  store(all, out, out_stride);
}

void MultiplyPanel(const PackedBlocks& w, int64_t panel, const BlockRows& rows, float* out, int64_t out_stride) {
  with_codes(w, [&](const auto& codes) {
    in_groups(rows.count, [&](auto few, int64_t row) {
      multiply<few>(w, codes, panel, rows.x + row * rows.stride, rows.stride, out + row * out_stride, out_stride);
    });
  });
}

/// The floats of `count` codes of a word of each column, one row for each.
template <int kWide, class Codes>
HWY_INLINE void unpack_words(const Codes& codes, const uint32_t* words, const float* scales, const Zeros& zeros,
                             int64_t count, float* out) {
  const F d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  Words word[kWide];
  V scale[kWide], zero[kWide];
  for (int v = 0; v < kWide; ++v) {
    word[v] = words_at(words + v * lanes);
    scale[v] = hn::LoadU(d, scales + v * lanes);
    zero[v] = zeros.at(v * lanes);
  }
  HWY_UNROLL(8)
  for (int64_t i = 0; i < 32 / Codes::kBits; ++i) {
    const int64_t row = place_of<Codes::kBits>(i);
    for (int v = 0; v < kWide; ++v) {
      const V number = hn::Mul(hn::Sub(codes.take(word[v]), zero[v]), scale[v]);
      if (row < count) hn::StoreU(number, d, out + (row * kWide + v) * lanes);
    }
  }
}

template <int kWide, class Codes>
HWY_INLINE void unpack(const PackedBlocks& w, const Codes& codes, int64_t column, int64_t k, int64_t depth,
                       float* out) {
  constexpr int64_t kInWord = 32 / Codes::kBits;
  const int64_t panel = column / w.width(), place = column % w.width(), columns = kWide * hn::Lanes(F());
  const uint32_t* words = w.words(panel) + k / kInWord * w.width() + place;
  for (int64_t end = k + depth; k < end;) {
    const int64_t block = k / w.block_size(), at = block * w.width() + place;
    const float* scales = w.scales(panel) + at;
    const Zeros zeros = Zeros{w.zeros(panel), w.zero()}.from(at);
    const int64_t stop = std::min(end, (block + 1) * w.block_size());
    for (; k + kInWord <= stop; k += kInWord, words += w.width(), out += kInWord * columns)
      unpack_words<kWide>(codes, words, scales, zeros, kInWord, out);
    if (k == stop) continue;
    unpack_words<kWide>(codes, words, scales, zeros, stop - k, out);
    k = stop;
  }
}

void UnpackColumns(const PackedBlocks& w, int64_t column, int64_t columns, int64_t k, int64_t depth, float* out) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(F()));
  with_codes(w, [&](const auto& codes) {
    if (columns == lanes) return unpack<1>(w, codes, column, k, depth, out);
    unpack<2>(w, codes, column, k, depth, out);
  });
}

}  // namespace
}  // namespace mlopt::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mlopt::cpu {

HWY_EXPORT(PanelWidth);
HWY_EXPORT(MultiplyPanel);
HWY_EXPORT(UnpackColumns);

int64_t block_panel_width() { return HWY_DYNAMIC_DISPATCH(PanelWidth)(); }

void multiply_panel(const PackedBlocks& weights, int64_t panel, const BlockRows& rows, float* out, int64_t out_stride) {
  HWY_DYNAMIC_DISPATCH(MultiplyPanel)(weights, panel, rows, out, out_stride);
}

void unpack_columns(const PackedBlocks& weights, int64_t column, int64_t columns, int64_t k, int64_t depth,
                    float* out) {
  HWY_DYNAMIC_DISPATCH(UnpackColumns)(weights, column, columns, k, depth, out);
}

}  // namespace mlopt::cpu
#endif  // HWY_ONCE
