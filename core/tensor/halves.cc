#include "core/tensor/halves.h"

#include <bit>

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

}  // namespace
}  // namespace mlopt::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mlopt {

HWY_EXPORT(WidenVectors);
HWY_EXPORT(NarrowVectors);

void widen(const Half* in, float* out, int64_t count) {
  for (int64_t i = HWY_DYNAMIC_DISPATCH(WidenVectors)(in, out, count); i < count; ++i) out[i] = to_float(in[i]);
}

void narrow(const float* in, Half* out, int64_t count) {
  for (int64_t i = HWY_DYNAMIC_DISPATCH(NarrowVectors)(in, out, count); i < count; ++i) out[i] = to_half(in[i]);
}

void widen(const BFloat16* in, float* out, int64_t count) {
  for (int64_t i = 0; i < count; ++i) out[i] = std::bit_cast<float>(uint32_t{in[i].bits} << 16);
}

/// Without a branch, for the compiler to make vectors of.
void narrow(const float* in, BFloat16* out, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    const auto bits = std::bit_cast<uint32_t>(in[i]);
    const bool nan = (bits & 0x7fffffff) > 0x7f800000;
    const uint32_t even = bits + 0x7fff + (bits >> 16 & 1), quiet = bits | 0x400000;
    out[i].bits = static_cast<uint16_t>((nan ? quiet : even) >> 16);
  }
}

}  // namespace mlopt
#endif  // HWY_ONCE
