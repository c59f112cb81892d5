#include "core/calib/counting.h"

#include <algorithm>
#include <array>
#include <limits>

// What lies close to another instruction set is not worth its compile time.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL)

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/calib/counting.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace mlopt::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

template <class V>
auto IsFinite(V x) {
  return hn::Le(hn::Abs(x), hn::Set(hn::DFromV<V>(), std::numeric_limits<float>::max()));
}

/// Of vectors that are whole; how many numbers these hold.
size_t FindLimits(const float* x, size_t count, Limits& found) {
  const hn::ScalableTag<float> d;
  const size_t lanes = hn::Lanes(d);
  const auto inf = hn::Set(d, INFINITY), minus_inf = hn::Set(d, -INFINITY), zero = hn::Zero(d);
  auto low = inf, high = minus_inf;
  size_t i = 0, finite = 0, zeros = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto number = hn::LoadU(d, x + i);
    const auto is_finite = IsFinite(number);
    low = hn::Min(low, hn::IfThenElse(is_finite, number, inf));
    high = hn::Max(high, hn::IfThenElse(is_finite, number, minus_inf));
    finite += hn::CountTrue(d, is_finite);
    zeros += hn::CountTrue(d, hn::Eq(number, zero));
  }
  found.add({hn::GetLane(hn::MinOfLanes(d, low)), hn::GetLane(hn::MaxOfLanes(d, high)), static_cast<int64_t>(finite),
             static_cast<int64_t>(zeros)});
  return i;
}

/// bin_of() of each number, `bins` of one that is not finite; of whole vectors.
size_t FindBins(const float* x, size_t count, float inverse, int bins, int32_t* to) {
  const hn::ScalableTag<float> d;
  const hn::RebindToSigned<decltype(d)> di;
  const size_t lanes = hn::Lanes(d);
  const auto scale = hn::Set(d, inverse);
  const auto middle = hn::Set(di, bins / 2), last = hn::Set(di, bins - 1), outside = hn::Set(di, bins);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto number = hn::LoadU(d, x + i);
    const auto is_finite = hn::RebindMask(di, IsFinite(number));
    const auto bin = hn::Add(hn::ConvertTo(di, hn::Floor(hn::Mul(number, scale))), middle);
    hn::StoreU(hn::IfThenElse(is_finite, hn::Min(bin, last), outside), di, to + i);
  }
  return i;
}

}  // namespace
}  // namespace mlopt::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mlopt {

HWY_EXPORT(FindLimits);
HWY_EXPORT(FindBins);

void Limits::add(const Limits& other) {
  low = std::min(low, other.low);
  high = std::max(high, other.high);
  finite += other.finite;
  zeros += other.zeros;
}

Limits limits_of(std::span<const float> numbers) {
  Limits found;
  const size_t done = HWY_DYNAMIC_DISPATCH(FindLimits)(numbers.data(), numbers.size(), found);
  for (const float x : numbers.subspan(done))
    if (std::isfinite(x)) found.add({x, x, 1, x == 0});
  return found;
}

void count_bins(std::span<const float> numbers, float inverse, int bins, std::span<uint32_t> counts) {
  std::array<int32_t, 512> places;
  const size_t table = static_cast<size_t>(bins) + 1;
  for (size_t first = 0; first < numbers.size(); first += places.size()) {
    const auto part = numbers.subspan(first, std::min(places.size(), numbers.size() - first));
    size_t i = HWY_DYNAMIC_DISPATCH(FindBins)(part.data(), part.size(), inverse, bins, places.data());
    for (; i < part.size(); ++i) places[i] = std::isfinite(part[i]) ? bin_of(part[i], inverse, bins) : bins;
    for (i = 0; i < part.size(); ++i) ++counts[i % kBinTables * table + static_cast<size_t>(places[i])];
  }
}

}  // namespace mlopt
#endif
