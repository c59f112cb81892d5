#include "backends/cpu/winograd_kernel.h"

#include <algorithm>

#include "backends/cpu/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/winograd_kernel.cc"
#include <hwy/foreach_target.h>

#include "backends/cpu/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mlopt::cpu::HWY_NAMESPACE {
namespace {

/// F(2, 3): points 0, 1, -1 and infinity.
HWY_INLINE void source_line(const V (&x)[4], V (&y)[4]) {
  y[0] = hn::Sub(x[0], x[2]);
  y[1] = hn::Add(x[1], x[2]);
  y[2] = hn::Sub(x[2], x[1]);
  y[3] = hn::Sub(x[1], x[3]);
}

HWY_INLINE void result_line(const V (&x)[4], V (&y)[2]) {
  y[0] = hn::Add(hn::Add(x[0], x[1]), x[2]);
  y[1] = hn::Sub(hn::Sub(x[1], x[2]), x[3]);
}

/// F(4, 3): points 0, 3/4, -3/4, 3/2, -3/2 and infinity, whose sums lose half as much as those of 1 and 2.
constexpr float kNear = 0.75f, kFar = 1.5f;

HWY_INLINE void source_line(const V (&x)[6], V (&y)[6]) {
  const V near_square = constant(kNear * kNear), far_square = constant(kFar * kFar);
  const V product = constant(kNear * kNear * kFar * kFar), sum = constant(kNear * kNear + kFar * kFar);
  const V even_near = hn::NegMulAdd(far_square, x[2], x[4]), even_far = hn::NegMulAdd(near_square, x[2], x[4]);
  const V odd_near = hn::Mul(constant(kNear), hn::NegMulAdd(far_square, x[1], x[3]));
  const V odd_far = hn::Mul(constant(kFar), hn::NegMulAdd(near_square, x[1], x[3]));
  y[0] = hn::MulAdd(product, x[0], hn::NegMulAdd(sum, x[2], x[4]));
  y[1] = hn::Add(even_near, odd_near);
  y[2] = hn::Sub(even_near, odd_near);
  y[3] = hn::Add(even_far, odd_far);
  y[4] = hn::Sub(even_far, odd_far);
  y[5] = hn::MulAdd(product, x[1], hn::NegMulAdd(sum, x[3], x[5]));
}

HWY_INLINE void result_line(const V (&x)[6], V (&y)[4]) {
  const V near_sum = hn::Add(x[1], x[2]), near_gap = hn::Sub(x[1], x[2]);
  const V far_sum = hn::Add(x[3], x[4]), far_gap = hn::Sub(x[3], x[4]);
  y[0] = hn::Add(x[0], hn::Add(near_sum, far_sum));
  y[1] = hn::MulAdd(constant(kFar), far_gap, hn::Mul(constant(kNear), near_gap));
  y[2] = hn::MulAdd(constant(kFar * kFar), far_sum, hn::Mul(constant(kNear * kNear), near_sum));
  y[3] = hn::MulAdd(constant(kFar * kFar * kFar), far_gap, hn::MulAdd(constant(kNear * kNear * kNear), near_gap, x[5]));
}

/// Both directions of a square of vectors: `load(row, column)` in, `store(row, column, vector)` out.
template <int kIn, int kOut, class Line, class Load, class Store>
HWY_INLINE void transform(const Line& line, const Load& load, const Store& store) {
  const F d;
  HWY_ALIGN float half[kOut * kIn * hn::MaxLanes(d)];
  V in[kIn], out[kOut];
  const auto at = [&](int row, int column) { return half + static_cast<size_t>(row * kIn + column) * hn::Lanes(d); };
  for (int column = 0; column < kIn; ++column) {
    HWY_UNROLL(6)
    for (int row = 0; row < kIn; ++row) in[row] = load(row, column);
    line(in, out);
    HWY_UNROLL(6)
    for (int row = 0; row < kOut; ++row) hn::Store(out[row], d, at(row, column));
  }
  for (int row = 0; row < kOut; ++row) {
    HWY_UNROLL(6)
    for (int column = 0; column < kIn; ++column) in[column] = hn::Load(d, at(row, column));
    line(in, out);
    HWY_UNROLL(6)
    for (int column = 0; column < kOut; ++column) store(row, column, out[column]);
  }
}

/// A vector of which only the first `count` elements are there.
HWY_INLINE V load_some(const float* from, int64_t count) {
  const F d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  if (count >= lanes) return hn::LoadU(d, from);
  HWY_ALIGN float some[hn::MaxLanes(d)] = {};
  std::copy_n(from, count, some);
  return hn::Load(d, some);
}

template <int kResults>
void source(const float* image, const int64_t* pixels, int64_t channels, float* out, int64_t stride) {
  constexpr int kPixels = kResults + 2;
  const F d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto line = [](const V(&x)[kPixels], V(&y)[kPixels]) HWY_ATTR { source_line(x, y); };
  const bool inside = std::all_of(pixels, pixels + kPixels * kPixels, [](int64_t p) { return p >= 0; });
  int64_t c = 0;
  const auto store = [&](int row, int column, V v)
                         HWY_ATTR { hn::StoreU(v, d, out + (row * kPixels + column) * stride + c); };
  for (; inside && c + lanes <= channels; c += lanes)
    transform<kPixels, kPixels>(
        line, [&](int row, int column) HWY_ATTR { return hn::LoadU(d, image + pixels[row * kPixels + column] + c); },
        store);
  for (; c < channels; c += lanes) {
    const auto load = [&](int row, int column) HWY_ATTR {
      const int64_t pixel = pixels[row * kPixels + column];
      return pixel < 0 ? hn::Zero(d) : load_some(image + pixel + c, channels - c);
    };
    transform<kPixels, kPixels>(line, load, store);
  }
}

template <int kResults>
bool result(const float* sums, int64_t stride, int64_t columns, const WinogradResult& to) {
  constexpr int kPixels = kResults + 2;
  const F d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto line = [](const V(&x)[kPixels], V(&y)[kResults]) HWY_ATTR { result_line(x, y); };
  const V low = constant(to.low), high = constant(to.high);
  V trace = hn::Zero(d);  // NaN from the first number on that is not finite
  for (int64_t c = 0; c < columns; c += lanes) {
    const V bias = to.bias ? load_some(to.bias + c, columns - c) : hn::Zero(d);
    const auto load = [&](int row, int column)
                          HWY_ATTR { return hn::LoadU(d, sums + (row * kPixels + column) * stride + c); };
    transform<kPixels, kResults>(line, load, [&](int row, int column, V v) HWY_ATTR {
      const int64_t i = row * kResults + column;
      trace = hn::MulAdd(v, hn::Zero(d), trace);
      v = hn::Add(v, bias);
      if (to.addend && to.pixels[i] >= 0) v = hn::Add(v, load_some(to.addend + to.pixels[i] + c, columns - c));
      hn::StoreU(limited(v, low, high), d, to.out + to.places[i] + c);
    });
  }
  return hn::AllFalse(d, hn::IsNaN(trace));
}

void Transforms(int m, WinogradTransforms& t) {
  if (m == 2)
    t = {source<2>, result<2>};
  else
    t = {source<4>, result<4>};
}

}  // namespace
}  // namespace mlopt::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mlopt::cpu {

HWY_EXPORT(Transforms);

WinogradTransforms winograd_transforms(int m) {
  WinogradTransforms t;
  HWY_DYNAMIC_DISPATCH(Transforms)(m, t);
  return t;
}

}  // namespace mlopt::cpu
#endif  // HWY_ONCE
