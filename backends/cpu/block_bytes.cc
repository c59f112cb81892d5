#include "backends/cpu/block_bytes.h"

#include <algorithm>
#include <numeric>

// With the instructions that add up products of bytes in 32 bits, which most files have no use for.
#define HWY_WANT_AVX3_DL
#define HWY_DISABLED_TARGETS HWY_SSSE3
#include "backends/cpu/targets.h"
#include "core/base/align.h"
#include "core/ir/stored_weights.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/block_bytes.cc"
#include <hwy/foreach_target.h>

#include "backends/cpu/block-inl.h"
#include "backends/cpu/byte-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mlopt::cpu::HWY_NAMESPACE {
namespace {

#if HWY_TARGET == HWY_SCALAR
bool Multiplies() { return false; }
void MultiplyBytes(const PackedBlocks&, int64_t, const std::byte*, int64_t, float*, int64_t) {}
#else
bool Multiplies() { return true; }

constexpr int64_t kInWord = 8;

using Words = hn::RebindToUnsigned<F>;
using Bytes8 = hn::Repartition<uint8_t, F>;

HWY_INLINE SignedQuads repeated(const std::byte* quad) {
  int32_t four;
  std::memcpy(&four, quad, sizeof four);
  return hn::BitCast(hn::Repartition<int8_t, F>(), hn::Set(I32(), four));
}

#if HWY_TARGET == HWY_AVX3_DL
using Adder = Sums;
HWY_INLINE Adder nothing() { return hn::Zero(I32()); }
HWY_INLINE Adder add_products(Adder sums, Quads a, SignedQuads b) {
  // No intrinsic: Highway 1.0 asks the compiler for all of this target's instructions but these.
  asm("vpdpbusd %2, %1, %0" : "+v"(sums.raw) : "v"(a.raw), "v"(b.raw));
  return sums;
}
HWY_INLINE V total(Adder sums) { return hn::ConvertTo(F(), sums); }
#else
using Adder = Pairs;
HWY_INLINE Adder nothing() { return hn::Zero(I16()); }
HWY_INLINE Adder add_products(Adder sums, Quads a, SignedQuads b) { return add(sums, multiply_pairs(a, b)); }
HWY_INLINE V total(Adder sums) { return hn::ConvertTo(F(), widen_pairs(sums, hn::Zero(I32()))); }
#endif

/// Sums of products of a part of a block, as floats: words of codes times bytes.
template <int kRows>
HWY_INLINE void multiply_part(const uint32_t* words, int64_t width, int64_t part, const std::byte* x, int64_t stride,
                              V (&out)[kRows][kVectors]) {
  const Words d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto low = hn::Set(d, 0x0F0F0F0FU);
  Adder sums[kRows][kVectors];
  HWY_UNROLL(4)
  for (int r = 0; r < kRows; ++r) {
    HWY_UNROLL(4)
    for (int v = 0; v < kVectors; ++v) sums[r][v] = nothing();
  }
  for (int64_t i = 0; i < part; i += kInWord, words += width, x += kInWord) {
    Quads even[kVectors], odd[kVectors];
    HWY_UNROLL(4)
    for (int v = 0; v < kVectors; ++v) {
      const auto word = hn::LoadU(d, words + v * lanes);
      even[v] = hn::BitCast(Bytes8(), hn::And(word, low));
      odd[v] = hn::BitCast(Bytes8(), hn::And(hn::ShiftRight<4>(word), low));
    }
    HWY_UNROLL(4)
    for (int r = 0; r < kRows; ++r) {
      const SignedQuads first = repeated(x + r * stride), second = repeated(x + r * stride + kInWord / 2);
      HWY_UNROLL(4)
      for (int v = 0; v < kVectors; ++v)
        sums[r][v] = add_products(add_products(sums[r][v], even[v], first), odd[v], second);
    }
  }
  HWY_UNROLL(4)
  for (int r = 0; r < kRows; ++r) {
    HWY_UNROLL(4)
    for (int v = 0; v < kVectors; ++v) out[r][v] = total(sums[r][v]);
  }
}

template <int kRows>
void multiply(const PackedBlocks& w, int64_t panel, const std::byte* x, int64_t stride, float* out,
              int64_t out_stride) {
  const F d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const int64_t part = ByteRow::part(w), parts = w.block_size() / part, all_parts = w.blocks() * parts;
  const uint32_t* words = w.words(panel);
  const float* scales = w.scales(panel);
  const Zeros zeros{w.zeros(panel), w.zero()};
  const auto* steps = reinterpret_cast<const float*>(x + w.blocks() * w.block_size());
  const int64_t step_stride = stride / static_cast<int64_t>(sizeof(float));
  V all[kRows][kVectors];
  for (auto& row : all)  // not unrolled, so that they stay in memory: the registers are for the sums of a part
    for (V& v : row) v = hn::Zero(d);
  for (int64_t i = 0; i < all_parts; ++i, x += part, words += part / kInWord * w.width()) {
    V sums[kRows][kVectors];
    multiply_part<kRows>(words, w.width(), part, x, stride, sums);
    const int64_t at = i / parts * w.width();
    HWY_UNROLL(4)
    for (int v = 0; v < kVectors; ++v) {
      const V scale = hn::LoadU(d, scales + at + v * lanes);
      const V zero = zeros.at(at + v * lanes);
      HWY_UNROLL(4)
      for (int r = 0; r < kRows; ++r) {
        const float* step = steps + r * step_stride + i;
        const V sum = hn::NegMulAdd(zero, constant(step[all_parts]), hn::Mul(sums[r][v], constant(step[0])));
        all[r][v] = hn::MulAdd(sum, scale, all[r][v]);
      }
    }
  }
  store(all, out, out_stride);
}

void MultiplyBytes(const PackedBlocks& w, int64_t panel, const std::byte* rows, int64_t count, float* out,
                   int64_t out_stride) {
  const int64_t stride = ByteRow::size(w);
  in_groups(count, [&](auto few, int64_t row) {
    multiply<few>(w, panel, rows + row * stride, stride, out + row * out_stride, out_stride);
  });
}
#endif

void RoundBytes(const float* x, int64_t count, float inverse, int8_t* out) {
  const F d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const hn::Rebind<int8_t, F> bytes;
  const V times = constant(inverse);
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes)
    hn::StoreU(hn::DemoteTo(bytes, hn::NearestInt(hn::Mul(hn::LoadU(d, x + i), times))), bytes, out + i);
  for (; i < count; ++i) out[i] = ByteSteps{0, inverse}.rounded(x[i]);
}

}  // namespace
}  // namespace mlopt::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mlopt::cpu {

HWY_EXPORT(Multiplies);
HWY_EXPORT(MultiplyBytes);
HWY_EXPORT(RoundBytes);

bool multiplies_bytes(const PackedBlocks& weights) {
  const int64_t part = ByteRow::part(weights);
  return weights.bits() == 4 && !weights.levels() && part % 8 == 0 && weights.block_size() % part == 0 &&
         HWY_DYNAMIC_DISPATCH(Multiplies)();
}

int64_t ByteRow::part(const PackedBlocks& weights) { return std::min(kPart, weights.block_size()); }

int64_t ByteRow::size(const PackedBlocks& weights) {
  const int64_t codes = weights.blocks() * weights.block_size(), parts = codes / part(weights);
  return round_up(codes + 2 * parts * static_cast<int64_t>(sizeof(float)), 64);
}

void ByteRow::fill(const PackedBlocks& weights, const float* x, std::byte* out) {
  const int64_t size = weights.block_size(), per = part(weights), codes = weights.blocks() * size;
  auto* bytes = reinterpret_cast<int8_t*>(out);
  auto *steps = reinterpret_cast<float*>(out + codes), *sums = steps + codes / per;
  for (int64_t from = 0; from < codes; from += size) {
    const int64_t count = std::min(size, weights.k() - from);
    const ByteSteps by = byte_steps(x + from, count);
    HWY_DYNAMIC_DISPATCH(RoundBytes)(x + from, count, by.inverse, bytes + from);
    std::fill(bytes + from + count, bytes + from + size, int8_t{0});
    for (int64_t p = from / per; p < (from + size) / per; ++p) {
      steps[p] = by.step;
      sums[p] = by.step * static_cast<float>(std::accumulate(bytes + p * per, bytes + (p + 1) * per, 0));
    }
  }
}

void multiply_panel_bytes(const PackedBlocks& weights, int64_t panel, const std::byte* rows, int64_t count, float* out,
                          int64_t out_stride) {
  HWY_DYNAMIC_DISPATCH(MultiplyBytes)(weights, panel, rows, count, out, out_stride);
}

}  // namespace mlopt::cpu
#endif  // HWY_ONCE
