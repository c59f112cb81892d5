#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "backends/reference/compute.h"
#include "core/base/parallel.h"

namespace mlopt::reference {

/// The elements of a tensor grouped by where they go when some axes are reduced. Neighbouring axes of one kind are
/// merged.
class Groups {
 public:
  /// `reduced[i]` says whether axis i is reduced.
  Groups(const Dims& dims, const std::vector<bool>& reduced);

  int64_t outputs() const { return outputs_; }
  /// Elements reduced to each output.
  int64_t count() const { return count_; }

  /// Calls fn(i) with the index of every element that is reduced to output `o`, in order.
  template <class Fn>
  void each(int64_t o, const Fn& fn) const {
    int64_t base = 0;
    for (size_t k = kept_.size(); k-- > 0; o /= kept_[k].length) base += o % kept_[k].length * kept_[k].stride;
    const Axis& last = reduced_.back();
    for (int64_t run = 0; run < count_; run += last.length) {
      int64_t at = base, rest = run / last.length;
      for (size_t k = reduced_.size() - 1; k-- > 0; rest /= reduced_[k].length)
        at += rest % reduced_[k].length * reduced_[k].stride;
      for (int64_t i = 0; i < last.length; ++i) fn(at + i * last.stride);
    }
  }

 private:
  struct Axis {
    int64_t length, stride;
  };
  std::vector<Axis> kept_, reduced_;
  int64_t outputs_ = 1, count_ = 1;
};

/// Which axes of a tensor of `rank` are listed; throws naming the node for one outside [-rank, rank).
std::vector<bool> marked_axes(const Call& call, const std::vector<int64_t>& axes, int rank);
/// `dims` with the marked axes set to 1, or dropped.
Dims reduced_dims(const Dims& dims, const std::vector<bool>& reduced, bool keep);

}  // namespace mlopt::reference
