#include "backends/cpu/pool_planes.h"

#include <type_traits>
#include <utility>

#include "backends/cpu/pool_taps.h"
#include "backends/cpu/rows.h"

namespace mlopt::cpu {

void fold_into(const Pool& p, float* acc, const float* x, int64_t n) {
  fold(p.average ? Fold::kSum : Fold::kMax, acc, x, n);
}
void fold_into(const Pool&, uint8_t* acc, const uint8_t* x, int64_t n) { fold_max(acc, x, n); }
void fold_into(const Pool&, int8_t* acc, const int8_t* x, int64_t n) { fold_max(acc, x, n); }

int64_t padded_length(const PoolAxis& a) {
  const int64_t reach = (a.out - 1) * a.stride + 1 + (a.kernel - 1) * a.dilation;
  return std::max(reach, a.begin + a.in);
}

template <class T>
void pick_row(const T* from, int64_t stride, int64_t count, T* out) {
  if (stride == 1)
    std::copy_n(from, count, out);
  else if (stride == 2)
    for (int64_t i = 0; i < count; ++i) out[i] = from[2 * i];
  else
    for (int64_t i = 0; i < count; ++i) out[i] = from[stride * i];
}

template void pick_row(const float*, int64_t, int64_t, float*);
template void pick_row(const uint8_t*, int64_t, int64_t, uint8_t*);
template void pick_row(const int8_t*, int64_t, int64_t, int8_t*);

template <class T>
bool PlanePool<T>::takes(const Pool& p) {
  constexpr int64_t kShort = 256, kMost = 48 * 1024;
  const int64_t width = padded_length(p.axes[2]);
  return width <= kShort && padded_length(p.axes[1]) * width <= kMost;
}

template <class T>
PlanePool<T>::PlanePool(Pool pool)
    : p_(std::move(pool)),
      neutral_(neutral<T>(p_)),
      pitch_(padded_length(p_.axes[2])),
      rows_(padded_length(p_.axes[1])),
      elements_(pitch_ * rows_) {
  if (p_.average)
    for (const int64_t taps : p_.divisors[2]) divisors_.push_back(static_cast<float>(taps));
}

/// The planes under a window, folded, in a frame of what counts as nothing: in `padded`, but for one plane without a
/// frame.
template <class T>
const T* PlanePool<T>::fold_depth(const T* planes, int64_t d, T* padded) const {
  const PoolAxis &depth = p_.axes[0], &height = p_.axes[1], &width = p_.axes[2];
  if (depth.is_still() && pitch_ == width.in && rows_ == height.in) return planes + d * elements_;
  std::fill_n(padded, elements_, neutral_);
  if (depth.is_still()) {
    T* out = padded + height.begin * pitch_ + width.begin;
    for (int64_t y = 0; y < height.in; ++y)
      std::copy_n(planes + (d * height.in + y) * width.in, width.in, out + y * pitch_);
    return padded;
  }
  depth.each_tap(d, [&](int64_t z) {
    const T* plane = planes + z * height.in * width.in;
    T* out = padded + height.begin * pitch_ + width.begin;
    if (pitch_ == width.in) return fold_into(p_, out, plane, height.in * width.in);
    for (int64_t y = 0; y < height.in; ++y) fold_into(p_, out + y * pitch_, plane + y * width.in, width.in);
  });
  return padded;
}

template <class T>
void PlanePool<T>::pick(const T* folded, int64_t d, T* shares, T* out) const {
  const PoolAxis &height = p_.axes[1], &width = p_.axes[2];
  int64_t above = -1;  // taps of the shares
  for (int64_t h = 0; h < height.out; ++h, out += width.out) {
    pick_row(folded + h * pitch_, width.stride, width.out, out);
    if constexpr (std::is_same_v<T, float>) {
      if (!p_.average) continue;
      const int64_t taps = p_.divisors[0][static_cast<size_t>(d)] * p_.divisors[1][static_cast<size_t>(h)];
      // Where nothing lies under a window the sum is 0, and is to stay so.
      for (int64_t w = 0; taps != above && w < width.out; ++w)
        shares[w] = 1 / std::max(1.0f, static_cast<float>(taps) * divisors_[static_cast<size_t>(w)]);
      above = taps;
      for (int64_t w = 0; w < width.out; ++w) out[w] *= shares[w];
    }
  }
}

/// out[i] = what is under the taps x[i], x[i + step], ... of a window, folded.
template <class T>
void PlanePool<T>::fold(const T* x, int64_t step, int64_t count, T* out, int64_t n) const {
  constexpr int64_t kAtOnce = 16;
  const T* taps[kAtOnce];
  const int64_t first = std::min(count, kAtOnce);
  for (int64_t k = 0; k < first; ++k) taps[k] = x + k * step;
  if constexpr (std::is_same_v<T, float>) {
    p_.average ? sum_of_taps(taps, first, out, n) : max_of_taps(taps, first, out, n);
  } else {
    max_of_taps(taps, first, out, n);
  }
  for (int64_t k = first; k < count; ++k) fold_into(p_, out, x + k * step, n);
}

template <class T>
void PlanePool<T>::run(const T* planes, int64_t d, T* room, T* out) const {
  const PoolAxis &height = p_.axes[1], &width = p_.axes[2];
  T *padded = room, *folded = room + elements_;
  const T* plane = fold_depth(planes, d, padded);
  const int64_t down = height.out * pitch_;
  if (height.stride == 1) {
    fold(plane, height.dilation * pitch_, height.kernel, folded, down);
  } else {
    for (int64_t h = 0; h < height.out; ++h)
      fold(plane + h * height.stride * pitch_, height.dilation * pitch_, height.kernel, folded + h * pitch_, pitch_);
  }
  fold(folded, width.dilation, width.kernel, padded, down - (width.kernel - 1) * width.dilation);
  pick(padded, d, room + 2 * elements_, out);
}

template class PlanePool<float>;
template class PlanePool<uint8_t>;
template class PlanePool<int8_t>;

}  // namespace mlopt::cpu
