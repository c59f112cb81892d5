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

 private:
  void encode();

  std::vector<float> values_;
  Compression compression_;
  std::vector<float> lost_;            ///< by the last code, to be added to the next values
  std::vector<std::byte> code_, all_;  ///< this rank's, and those of all
  Communicator::Request request_ = 0;
};

}  // namespace mlopt::train
