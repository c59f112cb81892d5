// Fourier transforms of as many signals at once as a vector has lanes.
#include "backends/cpu/fourier_kernel.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <type_traits>

#include "backends/cpu/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/fourier_kernel.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace mlopt::cpu::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

constexpr size_t kLargestFactor = 16;

/// Complex numbers, one a lane.
template <class D>
struct Complex {
  hn::Vec<D> real, imaginary;
};

template <class D>
HWY_INLINE Complex<D> operator+(const Complex<D>& a, const Complex<D>& b) {
  return {hn::Add(a.real, b.real), hn::Add(a.imaginary, b.imaginary)};
}
template <class D>
HWY_INLINE Complex<D> operator-(const Complex<D>& a, const Complex<D>& b) {
  return {hn::Sub(a.real, b.real), hn::Sub(a.imaginary, b.imaginary)};
}
template <class D>
HWY_INLINE Complex<D> times(const Complex<D>& a, const Complex<D>& b) {
  return {hn::NegMulAdd(a.imaginary, b.imaginary, hn::Mul(a.real, b.real)),
          hn::MulAdd(a.imaginary, b.real, hn::Mul(a.real, b.imaginary))};
}

/// The points of the signals of a block: for each point the real parts of all lanes, then the imaginary ones.
template <class D>
struct Block {
  using T = hn::TFromD<D>;
  D d;
  size_t lanes = hn::Lanes(d);
  std::vector<T> numbers, other;

  explicit Block(size_t points) : numbers(2 * points * lanes), other(2 * points * lanes) {}
  Complex<D> load(size_t point) const {
    const T* at = numbers.data() + 2 * point * lanes;
    return {hn::LoadU(d, at), hn::LoadU(d, at + lanes)};
  }
  void store(size_t point, const Complex<D>& x) {
    T* at = other.data() + 2 * point * lanes;
    hn::StoreU(x.real, d, at);
    hn::StoreU(x.imaginary, d, at + lanes);
  }
};

/// The part `n` of a turn.
template <class D>
HWY_INLINE Complex<D> turn(D d, const FourierPlan& plan, size_t n) {
  using T = hn::TFromD<D>;
  return {hn::Set(d, static_cast<T>(plan.cosines[n])), hn::Set(d, static_cast<T>(plan.sines[n]))};
}

/// Transforms of a[0], ..., a[factor - 1].
template <class D>
HWY_INLINE void few(D, const Complex<D>* a, Complex<D>* b, size_t, const Complex<D>*,
                    std::integral_constant<size_t, 2>) {
  b[0] = a[0] + a[1];
  b[1] = a[0] - a[1];
}
template <class D>
HWY_INLINE void few(D, const Complex<D>* a, Complex<D>* b, size_t, const Complex<D>* turns,
                    std::integral_constant<size_t, 4>) {
  const Complex<D> even = a[0] + a[2], odd = a[1] + a[3], less = a[0] - a[2], rest = a[1] - a[3];
  // A quarter of a turn is +i or -i.
  const Complex<D> quarter{hn::Mul(hn::Neg(rest.imaginary), turns[1].imaginary),
                           hn::Mul(rest.real, turns[1].imaginary)};
  b[0] = even + odd;
  b[1] = less + quarter;
  b[2] = even - odd;
  b[3] = less - quarter;
}
template <class D>
HWY_INLINE void few(D, const Complex<D>* a, Complex<D>* b, size_t factor, const Complex<D>* turns,
                    std::integral_constant<size_t, 0>) {
  for (size_t t = 0; t < factor; ++t) {
    b[t] = a[0];
    for (size_t r = 1; r < factor; ++r) b[t] = b[t] + times(a[r], turns[r * t % factor]);
  }
}

/// A pass over all points. `left` is the length that is still to be transformed, `stride` what is done of it.
template <size_t kFactor, class D>
void Pass(D d, const FourierPlan& plan, size_t factor, size_t left, size_t stride, Block<D>& block) {
  const auto length = static_cast<size_t>(plan.how.length), rest = left / factor;
  Complex<D> a[kLargestFactor], b[kLargestFactor], turns[kLargestFactor], twiddles[kLargestFactor];
  for (size_t r = 0; r < factor; ++r) turns[r] = turn(d, plan, r * (length / factor));
  for (size_t q = 0; q < rest; ++q) {
    for (size_t t = 1; t < factor; ++t) twiddles[t] = turn(d, plan, q * t * stride);
    for (size_t k = 0; k < stride; ++k) {
      for (size_t r = 0; r < factor; ++r) a[r] = block.load(k + stride * (q + rest * r));
      few(d, a, b, factor, turns, std::integral_constant<size_t, kFactor>());
      block.store(k + stride * factor * q, b[0]);
      for (size_t t = 1; t < factor; ++t) block.store(k + stride * (factor * q + t), times(b[t], twiddles[t]));
    }
  }
  block.numbers.swap(block.other);
}

template <class D>
void Passes(D d, const FourierPlan& plan, Block<D>& block) {
  auto left = static_cast<size_t>(plan.how.length);
  size_t stride = 1;
  for (const int64_t f : plan.factors) {
    const auto factor = static_cast<size_t>(f);
    if (factor == 2)
      Pass<2>(d, plan, 2, left, stride, block);
    else if (factor == 4)
      Pass<4>(d, plan, 4, left, stride, block);
    else
      Pass<0>(d, plan, factor, left, stride, block);
    left /= factor;
    stride *= factor;
  }
}

int64_t place_of(const SignalPlaces& places, int64_t inner, int64_t signal) {
  return signal / inner * places.outer + signal % inner * places.beside;
}

/// Reads the signal into a lane; points that are not given are 0.
template <class T>
void Read(const FourierPlan& plan, const float* x, const float* window, T* lane, size_t lanes) {
  const Fourier& f = plan.how;
  const int64_t given = std::min(f.in_count, f.mirrored ? f.length / 2 + 1 : f.length);
  const auto row = static_cast<int64_t>(2 * lanes);
  for (int64_t j = 0; j < f.length; ++j) {
    T* at = lane + j * row;
    const float* from = x + j * plan.in.point;
    const T factor = j < given ? (window ? static_cast<T>(window[j]) : T{1}) : T{0};
    at[0] = j < given ? static_cast<T>(from[0]) * factor : T{0};
    at[lanes] = j < given && f.in_parts == 2 ? static_cast<T>(from[1]) * factor : T{0};
  }
  // The half that a one-sided spectrum leaves out is the mirror image of what it has.
  for (int64_t j = 1; f.mirrored && j < given; ++j) {
    lane[(f.length - j) * row] = lane[j * row];
    lane[(f.length - j) * row + static_cast<int64_t>(lanes)] = -lane[j * row + static_cast<int64_t>(lanes)];
  }
}

template <class T>
void Write(const FourierPlan& plan, const T* lane, size_t lanes, float* y) {
  const Fourier& f = plan.how;
  const T scale = f.inverse ? T{1} / static_cast<T>(f.length) : T{1};
  for (int64_t j = 0; j < f.out_count; ++j) {
    const T* at = lane + j * static_cast<int64_t>(2 * lanes);
    float* to = y + j * plan.out.point;
    to[0] = static_cast<float>(at[0] * scale);
    if (f.out_parts == 2) to[1] = static_cast<float>(at[lanes] * scale);
  }
}

template <class D>
void Transform(D d, const FourierPlan& plan, const float* x, const float* window, float* y, int64_t begin,
               int64_t end) {
  Block<D> block(static_cast<size_t>(plan.how.length));
  const auto lanes = static_cast<int64_t>(block.lanes);
  for (int64_t first = begin; first < end; first += lanes) {
    const int64_t count = std::min(lanes, end - first);
    for (int64_t l = 0; l < count; ++l)
      Read(plan, x + place_of(plan.in, plan.inner, first + l), window, block.numbers.data() + l, block.lanes);
    Passes(d, plan, block);
    for (int64_t l = 0; l < count; ++l)
      Write(plan, block.numbers.data() + l, block.lanes, y + place_of(plan.out, plan.inner, first + l));
  }
}

/// A real signal is transformed in double: rounding would leave imaginary parts where its spectrum has none.
void Run(const FourierPlan& plan, const float* x, const float* window, float* y, int64_t begin, int64_t end) {
  if (plan.how.in_parts == 2) return Transform(hn::ScalableTag<float>(), plan, x, window, y, begin, end);
#if HWY_HAVE_FLOAT64
  Transform(hn::ScalableTag<double>(), plan, x, window, y, begin, end);
#else
  Transform(hn::ScalableTag<float>(), plan, x, window, y, begin, end);
#endif
}

}  // namespace
}  // namespace mlopt::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mlopt::cpu {

HWY_EXPORT(Run);

bool factorize(FourierPlan& plan) {
  const int64_t length = plan.how.length;
  int64_t left = length;
  for (const int64_t factor : {4, 2, 3, 5, 7, 11, 13})
    for (; left % factor == 0; left /= factor) plan.factors.push_back(factor);
  if (left != 1) return false;
  const double step = (plan.how.inverse ? 2 : -2) * std::numbers::pi / static_cast<double>(length);
  for (int64_t i = 0; i < length; ++i) {
    plan.cosines.push_back(std::cos(step * static_cast<double>(i)));
    plan.sines.push_back(std::sin(step * static_cast<double>(i)));
  }
  return true;
}

void transform(const FourierPlan& plan, const float* x, const float* window, float* y, int64_t begin, int64_t end) {
  HWY_DYNAMIC_DISPATCH(Run)(plan, x, window, y, begin, end);
}

}  // namespace mlopt::cpu
#endif
