#pragma once
#include "backends/reference/compute.h"

namespace mlopt::reference {

/// A bias of attention scores that broadcasts to [batch, heads, queries, keys].
template <class T>
class AttentionMask {
 public:
  /// `tensor`: bool (false: -infinity) or numbers to add, of rank 4 or less; the last axis may be shorter than `keys`,
  /// which masks the rest, when `extend`. Throws Error{kBadInput} naming the node when it does not fit.
  AttentionMask(const Call& call, const Tensor& tensor, const Dims& full, bool extend);

  /// Adds the mask of head h of sample b to bias [queries, keys].
  void add(int64_t b, int64_t h, T* bias) const;

 private:
  Tensor values_;
  int64_t queries_, keys_, width_;
  int64_t steps_[4] = {0, 0, 0, 0};
};

extern template class AttentionMask<float>;
extern template class AttentionMask<double>;

}  // namespace mlopt::reference
