#pragma once
#include <cstdint>
#include <future>
#include <map>
#include <optional>
#include <vector>

#include "core/data/dataset.h"
#include "core/ir/type.h"
#include "core/train/augment.h"

namespace mlopt::train {

/// What is fed to the graph of gradients.
struct FeedSettings {
  int64_t batch = 0;           ///< samples at a time, of all ranks together
  std::optional<Type> labels;  ///< as the graph takes them, its shape that of a part; nothing: it takes none
  int64_t classes = 0;         ///< as LossGraph::classes
  uint64_t seed = 0;
  Augmentation augmentation = {};       ///< of the first input; mixup: of all, and of labels
  int rank = 0, ranks = 1;              ///< of the batch, the rank-th of so many equal parts is fed
  bool dropout_keys = false;            ///< they follow the labels, see dropout.h
  std::map<size_t, Tensor> fixed = {};  ///< what inputs have to be in each batch, by their index
  int64_t portions = 1;                 ///< batches of an update, of which an epoch has whole ones
  bool within_one = false;              ///< as LossGraph::within_one
};

/// Batches of a dataset in an order of its own in each epoch, the same for the same seed; the samples that are left
/// when no full batch is are left out. With mixup each is mixed with the one behind it in this order, the last with the
/// first. The next batch is decoded while the one before is used.
class Feed {
 public:
  /// Begins with batch `first` of the whole training. Throws Error{kBadInput} where the data have no labels and these
  /// are wanted, or fewer samples than a batch.
  Feed(const Dataset& data, const FeedSettings& settings, int64_t first = 0);
  ~Feed();

  /// Inputs, then labels and keys of dropouts, where these are wanted. Throws Error{kBadInput} for labels that do not
  /// fit, naming the sample.
  std::vector<Datum> next();
  int64_t batches_in_epoch() const { return data_.size() / update() * settings_.portions; }

 private:
  void shuffle(int64_t epoch);
  std::vector<int64_t> samples_of(int64_t index) const;
  std::vector<Datum> load(int64_t index);
  Tensor labels_of(const Batch& batch, const std::vector<int64_t>& samples) const;
  void require_within_one(const Tensor& labels, const std::vector<int64_t>& samples) const;
  int64_t update() const { return settings_.batch * settings_.portions; }
  int64_t part() const { return settings_.batch / settings_.ranks; }

  const Dataset& data_;
  FeedSettings settings_;
  int64_t next_;
  std::vector<int64_t> order_;  ///< of the samples, in epoch `shuffled_`
  int64_t shuffled_ = -1;
  std::future<std::vector<Datum>> ahead_;
};

}  // namespace mlopt::train
