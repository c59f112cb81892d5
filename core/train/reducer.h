#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/data/array_file.h"
#include "core/exec/state.h"
#include "core/train/bucket.h"

namespace mlopt::train {

/// Adds up values of the state (gradients) over all ranks, many small ones as one large one: a bucket is under way
/// while the values of the next are still computed.
class Reducer {
 public:
  /// `names`: of float values of `state`, which must outlive it. A bucket holds `bucket_bytes` at least, but for the
  /// last.
  Reducer(Communicator& ranks, StateStore& state, std::vector<std::string> names, int64_t bucket_bytes,
          const Compression& compression = {});

  /// `value` is what this rank adds for `name`, whether or not the state has it already. Optional: what is not ready by
  /// finish() is taken from the state then.
  void ready(std::string_view name, const Tensor& value);
  /// Leaves the sums in the state, and in `more`, which is added up along with them. All ranks call it.
  void finish(std::span<float> more = {});

  /// What this rank's codes have left over and the next gradients will carry, by name, in the order in which buckets
  /// are filled. Empty where nothing is compressed, or not yet.
  NamedTensors residuals() const;
  /// Goes on from these, which are of the same values, as if it had made them. All ranks call it, before anything else.
  void set_residuals(const NamedTensors& residuals);

 private:
  struct Item {
    std::string name;
    size_t bucket, offset;  ///< where it lies, in elements
    bool ready = false;
  };

  void make_buckets(const std::vector<std::string>& names);
  void put(Item& item, const Tensor& value);
  void begin_complete();
  void put_back(const Item& item);
  void take_order();

  Communicator& ranks_;
  StateStore& state_;
  int64_t bucket_bytes_;
  Compression compression_;
  std::vector<Item> items_;
  std::map<std::string, size_t, std::less<>> places_;  ///< of each name: the item
  std::vector<Bucket> buckets_;
  std::vector<size_t> missing_;     ///< items of each bucket that are not ready
  size_t begun_ = 0;                ///< buckets
  std::vector<std::string> order_;  ///< in which values got ready, until the buckets follow it
  bool ordered_ = false;
};

}  // namespace mlopt::train
