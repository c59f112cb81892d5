// What the products of rows and panels of codes share, for one instruction set; included once for each by
// hwy/foreach_target.h.
#if defined(MLOPT_BACKENDS_CPU_BLOCK_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef MLOPT_BACKENDS_CPU_BLOCK_INL_H
#undef MLOPT_BACKENDS_CPU_BLOCK_INL_H
#else
#define MLOPT_BACKENDS_CPU_BLOCK_INL_H
#endif

#include <cstdint>
#include <type_traits>

#include "backends/cpu/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mlopt::cpu::HWY_NAMESPACE {

constexpr int kVectors = 4;  ///< of a panel

/// Rows that are multiplied at a time: with the vectors of a panel as many sums, and the codes, as registers hold.
#if HWY_TARGET <= HWY_AVX3
constexpr int kMostRows = 4;
#else
constexpr int kMostRows = 2;
#endif

/// fn(how many, the first) for groups of so many rows.
template <class Fn>
HWY_INLINE void in_groups(int64_t count, const Fn& fn) {
  int64_t row = 0;
  const auto take = [&](auto few) {
    for (; row + few <= count; row += few) fn(few, row);
  };
  take(std::integral_constant<int, kMostRows>());
  take(std::integral_constant<int, 2>());
  take(std::integral_constant<int, 1>());
}

/// The zero points of a block of a panel's columns: an array, or one for all.
struct Zeros {
  const float* each;
  float all;

  bool any() const { return each || all != 0; }
  Zeros from(int64_t place) const { return {each ? each + place : nullptr, all}; }
  HWY_INLINE V at(int64_t column) const { return each ? hn::LoadU(F(), each + column) : constant(all); }
};

template <int kRows>
HWY_INLINE void set_zero(V (&sums)[kRows][kVectors]) {
  HWY_UNROLL(4)
  for (int r = 0; r < kRows; ++r) {
    HWY_UNROLL(4)
    for (int v = 0; v < kVectors; ++v) sums[r][v] = hn::Zero(F());
  }
}

template <int kRows>
HWY_INLINE void store(const V (&sums)[kRows][kVectors], float* out, int64_t stride) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(F()));
  for (int r = 0; r < kRows; ++r)
    for (int v = 0; v < kVectors; ++v) hn::StoreU(sums[r][v], F(), out + r * stride + v * lanes);
}

}  // namespace mlopt::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
