#include "core/tensor/halves.h"

// What lies close to another instruction set is not worth its compile time.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL)

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/tensor/halves.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace mlopt::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET <= HWY_AVX2  // has conversions of float16
/// How many elements are done; the rest is too short for a vector.
int64_t WidenVectors(const Half* in, float* out, int64_t count) {
  const hn::ScalableTag<float> d;
  const hn::Rebind<hwy::float16_t, decltype(d)> dh;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes)
    hn::StoreU(hn::PromoteTo(d, hn::LoadU(dh, reinterpret_cast<const hwy::float16_t*>(in + i))), d, out + i);
  return i;
}

int64_t NarrowVectors(const float* in, Half* out, int64_t count) {
  const hn::ScalableTag<float> d;
  const hn::Rebind<hwy::float16_t, decltype(d)> dh;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes)
    hn::StoreU(hn::DemoteTo(dh, hn::LoadU(d, in + i)), dh, reinterpret_cast<hwy::float16_t*>(out + i));
  return i;
}
#else
int64_t WidenVectors(const Half*, float*, int64_t) { return 0; }
int64_t NarrowVectors(const float*, Half*, int64_t) { return 0; }
#endif

/// A bfloat16 is the upper half of a float32.
int64_t WidenUpper(const BFloat16* in, float* out, int64_t count) {
  const hn::ScalableTag<float> d;
  const hn::RebindToUnsigned<decltype(d)> du;
  const hn::Rebind<uint16_t, decltype(d)> dh;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto upper = hn::PromoteTo(du, hn::LoadU(dh, reinterpret_cast<const uint16_t*>(in + i)));
    hn::StoreU(hn::BitCast(d, hn::ShiftLeft<16>(upper)), d, out + i);
  }
  return i;
}

int64_t NarrowUpper(const float* in, BFloat16* out, int64_t count) {
  const hn::ScalableTag<float> d;
  const hn::RebindToUnsigned<decltype(d)> du;
  const hn::Rebind<uint16_t, decltype(d)> dh;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto half = hn::Set(du, 0x7fff), one = hn::Set(du, 1), quiet = hn::Set(du, 0x400000);
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto x = hn::LoadU(d, in + i);
    const auto bits = hn::BitCast(du, x);
    const auto even = hn::Add(hn::Add(bits, half), hn::And(hn::ShiftRight<16>(bits), one));
    const auto rounded = hn::IfThenElse(hn::RebindMask(du, hn::IsNaN(x)), hn::Or(bits, quiet), even);
    hn::StoreU(hn::TruncateTo(dh, hn::ShiftRight<16>(rounded)), dh, reinterpret_cast<uint16_t*>(out + i));
  }
  return i;
}

}  // namespace
}  // namespace mlopt::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mlopt {

HWY_EXPORT(WidenVectors);
HWY_EXPORT(NarrowVectors);
HWY_EXPORT(WidenUpper);
HWY_EXPORT(NarrowUpper);

void widen(const Half* in, float* out, int64_t count) {
  for (int64_t i = HWY_DYNAMIC_DISPATCH(WidenVectors)(in, out, count); i < count; ++i) out[i] = to_float(in[i]);
}

void narrow(const float* in, Half* out, int64_t count) {
  for (int64_t i = HWY_DYNAMIC_DISPATCH(NarrowVectors)(in, out, count); i < count; ++i) out[i] = to_half(in[i]);
}

void widen(const BFloat16* in, float* out, int64_t count) {
  for (int64_t i = HWY_DYNAMIC_DISPATCH(WidenUpper)(in, out, count); i < count; ++i) out[i] = to_float(in[i]);
}

void narrow(const float* in, BFloat16* out, int64_t count) {
  for (int64_t i = HWY_DYNAMIC_DISPATCH(NarrowUpper)(in, out, count); i < count; ++i) out[i] = to_bfloat16(in[i]);
}

}  // namespace mlopt
#endif  // HWY_ONCE
