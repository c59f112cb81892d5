#include "backends/cpu/pool_planes.h"

#include <type_traits>
#include <utility>

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
  depth.each_tap(d, [&](int64_t z) {
    const T* plane = planes + z * height.in * width.in;
    T* out = padded + height.begin * pitch_ + width.begin;
    if (pitch_ == width.in) return fold_into(p_, out, plane, height.in * width.in);
    for (int64_t y = 0; y < height.in; ++y) fold_into(p_, out + y * pitch_, plane + y * width.in, width.in);
  });
  return padded;
}

template <class T>
void PlanePool<T>::pick(const T* folded, int64_t d, T* out) const {
  const PoolAxis &height = p_.axes[1], &width = p_.axes[2];
  for (int64_t h = 0; h < height.out; ++h, out += width.out) {
    pick_row(folded + h * height.stride * pitch_, width.stride, width.out, out);
    if constexpr (std::is_same_v<T, float>) {
      if (!p_.average) continue;
      const int64_t taps = p_.divisors[0][static_cast<size_t>(d)] * p_.divisors[1][static_cast<size_t>(h)];
      const float above = static_cast<float>(taps);
      // Where nothing lies under a window the sum is 0, and is to stay so.
      for (int64_t w = 0; w < width.out; ++w) out[w] /= std::max(1.0f, above * divisors_[static_cast<size_t>(w)]);
    }
  }
}

template <class T>
void PlanePool<T>::run(const T* planes, int64_t d, T* room, T* out) const {
  const PoolAxis &height = p_.axes[1], &width = p_.axes[2];
  T *padded = room, *folded = room + elements_;
  const T* plane = fold_depth(planes, d, padded);
  const int64_t down = ((height.out - 1) * height.stride + 1) * pitch_;
  std::copy_n(plane, down, folded);
  for (int64_t k = 1; k < height.kernel; ++k) fold_into(p_, folded, plane + k * height.dilation * pitch_, down);
  const int64_t along = down - (width.kernel - 1) * width.dilation;
  std::copy_n(folded, along, padded);
  for (int64_t k = 1; k < width.kernel; ++k) fold_into(p_, padded, folded + k * width.dilation, along);
  pick(padded, d, out);
}

template class PlanePool<float>;
template class PlanePool<uint8_t>;
template class PlanePool<int8_t>;

}  // namespace mlopt::cpu
