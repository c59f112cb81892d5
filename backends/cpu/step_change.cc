#include "backends/cpu/step_change.h"

#include <cstring>
#include <numeric>

#include "backends/cpu/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/step_change.cc"
#include <hwy/foreach_target.h>

#include "backends/cpu/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mlopt::cpu::HWY_NAMESPACE {
namespace {

#if HWY_TARGET == HWY_SCALAR
template <class T>
int64_t scale(const T*, T*, int64_t, float, float, int32_t) {
  return 0;
}
#else
/// out[i] = round(x[i] factor + offset) + zero for as many numbers as vectors hold, at least one vector; how many.
template <class T>
int64_t scale(const T* x, T* out, int64_t n, float factor, float offset, int32_t zero) {
  const F d;
  const hn::Rebind<int32_t, F> integers;
  const hn::Repartition<int16_t, F> words;
  const hn::Half<decltype(words)> half;
  const hn::Rebind<T, decltype(words)> bytes;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d)), together = 2 * lanes;
  const V f = constant(factor), o = constant(offset), least = constant(-32768), most = constant(32767);
  const auto z = hn::Set(words, static_cast<int16_t>(zero));
  const auto scaled = [&](const T* at) HWY_ATTR {
    const V v = hn::ConvertTo(d, hn::PromoteTo(integers, hn::LoadU(hn::Rebind<T, F>(), at)));
    return hn::NearestInt(hn::Min(hn::Max(hn::MulAdd(v, f, o), least), most));
  };
  if (n < together) return 0;
  for (int64_t i = 0; i < n; i += together) {
    if (i + together > n) i = n - together;  // some of the numbers again
    const auto both = hn::Combine(words, hn::DemoteTo(half, scaled(x + i + lanes)), hn::DemoteTo(half, scaled(x + i)));
    hn::StoreU(hn::DemoteTo(bytes, hn::SaturatedAdd(both, z)), bytes, out + i);
  }
  return n;
}
#endif

int64_t Scale(bool is_signed, const void* x, void* out, int64_t n, float factor, float offset, int32_t zero) {
  if (is_signed) return scale(static_cast<const int8_t*>(x), static_cast<int8_t*>(out), n, factor, offset, zero);
  return scale(static_cast<const uint8_t*>(x), static_cast<uint8_t*>(out), n, factor, offset, zero);
}

}  // namespace
}  // namespace mlopt::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mlopt::cpu {

HWY_EXPORT(Scale);

StepChange::StepChange(bool is_signed, const Steps& from, const Steps& to)
    : is_signed_(is_signed),
      is_same_(from == to),
      factor_(from.scale / to.scale),
      offset_(-static_cast<float>(from.zero) * factor_),
      zero_(to.zero) {
  std::array<uint8_t, 256> bytes, scaled;
  std::array<float, 256> values;
  std::iota(bytes.begin(), bytes.end(), uint8_t{0});
  dequantize({bytes.data(), is_signed}, values.data(), 256, from.scale, from.zero);
  quantize(values.data(), {table_.data(), is_signed}, 256, to.scale, to.zero);
  // One multiplication rounds otherwise than a multiplication and a division: only where none of the 256 shows it.
  is_linear_ =
      HWY_DYNAMIC_DISPATCH(Scale)(is_signed, bytes.data(), scaled.data(), 256, factor_, offset_, zero_) == 256 &&
      scaled == table_;
}

void StepChange::apply(const void* x, void* out, int64_t count) const {
  if (is_same_) {
    std::memcpy(out, x, static_cast<size_t>(count));
    return;
  }
  if (is_linear_ && HWY_DYNAMIC_DISPATCH(Scale)(is_signed_, x, out, count, factor_, offset_, zero_) == count) return;
  const auto* from = static_cast<const uint8_t*>(x);
  auto* to = static_cast<uint8_t*>(out);
  for (int64_t i = 0; i < count; ++i) to[i] = table_[from[i]];
}

}  // namespace mlopt::cpu
#endif  // HWY_ONCE
