#pragma once
#include <span>
#include <vector>

#include "core/train/communicator.h"
#include "core/train/compression.h"

namespace mlopt::train {

/// Numbers that are added up over all ranks at once, as they are or compressed.
class Bucket {
 public:
  Bucket(size_t count, const Compression& compression) : values_(count), compression_(compression) {}

  std::span<float> values() { return values_; }
  /// Begins to add up values(), and what compression left over of the values before.
  void begin(Communicator& ranks);
  /// Then values() are the sums.
  void finish(Communicator& ranks);

  /// What this rank's codes have left over, to be added to the next values: as it was before begin() until the sums
  /// have been taken(). Empty: nothing.
  std::span<const float> residual() const { return taken_ ? lost_ : before_; }
  void set_residual(std::vector<float> values) { lost_ = std::move(values); }
  void taken() { taken_ = true; }

 private:
  void encode();

  std::vector<float> values_;
  Compression compression_;
  std::vector<float> lost_, before_;  ///< by the last code, to be added to the next values; by the one before it
  bool taken_ = true;
  std::vector<std::byte> code_, all_;  ///< this rank's, and those of all
  Communicator::Request request_ = 0;
};

}  // namespace mlopt::train
