#include "quantize/few_levels.h"

// What lies close to another instruction set is not worth its compile time.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL)

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "quantize/few_levels.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace mlopt::quantize::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

/// How many middles each number has passed, of vectors that are whole. The numbers are divided, not multiplied by the
/// inverse: codes are the same on all processors.
size_t CodeVectors(const float* x, size_t count, float scale, const float* middles, size_t levels, uint8_t* to) {
  const hn::ScalableTag<float> d;
  const hn::RebindToSigned<decltype(d)> di;
  const hn::Rebind<uint8_t, decltype(d)> d8;
  const auto divisor = hn::Set(d, scale);
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto number = hn::LoadU(d, x + i);
    const auto wanted = hn::Div(hn::IfThenElseZero(hn::Eq(number, number), number), divisor);  // NaN is not itself
    auto passed = hn::Zero(di);
    for (size_t k = 0; k < levels; ++k) {
      const auto past = hn::Gt(wanted, hn::Set(d, middles[k]));
      passed = hn::Sub(passed, hn::BitCast(di, hn::VecFromMask(d, past)));  // all ones are -1
    }
    hn::StoreU(hn::DemoteTo(d8, passed), d8, to + i);
  }
  return i;
}

}  // namespace
}  // namespace mlopt::quantize::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mlopt::quantize {

HWY_EXPORT(CodeVectors);

FewLevels::FewLevels(std::span<const float> table, float scale) : count_(table.size() - 1), scale_(scale) {
  for (size_t k = 0; k < count_; ++k) middles_[k] = table[k] + (table[k + 1] - table[k]) / 2;
}

size_t FewLevels::code(std::span<const float> x, uint8_t* to) const {
  return HWY_DYNAMIC_DISPATCH(CodeVectors)(x.data(), x.size(), scale_, middles_.data(), count_, to);
}

}  // namespace mlopt::quantize
#endif
