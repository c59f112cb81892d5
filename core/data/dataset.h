#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/tensor/datum.h"

namespace mlopt {

/// Some samples as a model takes them.
struct Batch {
  std::vector<Datum> inputs;     ///< in the order of the InputSpecs that the data were opened with
  std::optional<Tensor> labels;  ///< first axis: the sample; integers where the label is a class or a token
  int64_t count = 0;             ///< samples
};

/// Samples for a model, decoded when they are asked for. May be used from several threads.
class Dataset {
 public:
  virtual ~Dataset() = default;
  /// Samples that were selected. Where each item is a whole set of inputs (random, ONNX test data), these.
  virtual int64_t size() const = 0;
  /// How many samples the model takes at a time: 0 any number (its first dimension is free), else exactly that many.
  virtual int64_t batch_size() const = 0;
  /// Samples first .. first + count - 1, stacked. Throws Error{kBadInput} naming the sample that cannot be used, and
  /// where each sample is a whole input and `count` is not 1.
  virtual Batch batch(int64_t first, int64_t count) const = 0;
  /// Whether every batch has labels.
  virtual bool labelled() const = 0;
  /// "val/cat/0001.jpg", "iris.csv, line 7": sample i in messages.
  virtual std::string name_of(int64_t i) const = 0;
};

}  // namespace mlopt
