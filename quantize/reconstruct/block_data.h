#pragma once
#include <string>
#include <vector>

#include "core/data/dataset.h"

namespace mlopt::quantize {

/// What a part of a model is given, and what it is to give, from memory: an item for each batch that was held.
class BlockData : public Dataset {
 public:
  BlockData(std::vector<std::vector<Datum>> inputs, std::vector<Datum> targets)
      : inputs_(std::move(inputs)), targets_(std::move(targets)) {}

  int64_t size() const override { return std::ssize(targets_); }
  int64_t batch_size() const override { return 0; }
  bool labelled() const override { return true; }
  std::string name_of(int64_t i) const override { return "sample " + std::to_string(i + 1); }
  /// One item: `count` is 1.
  Batch batch(int64_t first, int64_t count) const override {
    Batch one{{}, targets_[static_cast<size_t>(first)].tensor(), count};
    for (const std::vector<Datum>& input : inputs_) one.inputs.push_back(input[static_cast<size_t>(first)]);
    return one;
  }

  const std::vector<std::vector<Datum>>& inputs() const { return inputs_; }

 private:
  std::vector<std::vector<Datum>> inputs_;  ///< for each input, for each item
  std::vector<Datum> targets_;
};

}  // namespace mlopt::quantize
