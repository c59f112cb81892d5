#pragma once
#include <limits>

#include "core/ir/pool_shape.h"

namespace mlopt::cpu {

/// What counts as nothing under a window.
template <class T>
T neutral(const Pool& p) {
  using Limits = std::numeric_limits<T>;
  return p.average ? 0 : Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
}

/// Elements under all windows of an axis, with what lies outside.
int64_t padded_length(const PoolAxis& a);

/// Folds so many numbers of x into acc: their sums where p.average, else their maxima.
void fold_into(const Pool& p, float* acc, const float* x, int64_t n);
void fold_into(const Pool& p, uint8_t* acc, const uint8_t* x, int64_t n);
void fold_into(const Pool& p, int8_t* acc, const int8_t* x, int64_t n);

/// out[i] = from[stride * i]; of the usual strides the compiler makes vectors.
template <class T>
void pick_row(const T* from, int64_t stride, int64_t count, T* out);

/// A pool of planes whose rows are too short to be folded one by one: whole planes are, as if the stride along them
/// were 1.
template <class T>
class PlanePool {
 public:
  /// Short rows, and planes that stay in the second cache.
  static bool takes(const Pool& p);

  explicit PlanePool(Pool pool);

  int64_t room() const { return 2 * elements_ + p_.axes[2].out; }  ///< elements of scratch
  /// One plane of the result, number d along the depth, from planes[depth, height, width].
  void run(const T* planes, int64_t d, T* room, T* out) const;

 private:
  const T* fold_depth(const T* planes, int64_t d, T* padded) const;
  void pick(const T* folded, int64_t d, T* shares, T* out) const;
  void fold(const T* x, int64_t step, int64_t count, T* out, int64_t n) const;

  Pool p_;
  T neutral_;
  int64_t pitch_, rows_, elements_;  ///< of a padded plane
  std::vector<float> divisors_;      ///< along the width, of averages
};

extern template class PlanePool<float>;
extern template class PlanePool<uint8_t>;
extern template class PlanePool<int8_t>;

}  // namespace mlopt::cpu
