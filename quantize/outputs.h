#pragma once
#include <vector>

#include "core/ir/model.h"
#include "quantize/quantize.h"

namespace mlopt::quantize {

/// What a model gives for a few samples of the data.
class Outputs {
 public:
  static constexpr int64_t kSamples = 8;
  /// Throws what running the model throws.
  Outputs(const Model& model, const Means& means, int64_t samples = kSamples);

  /// The sum over outputs, for each sample, of the squared difference, as a share of the squares of these.
  double distance(const Outputs& other) const;
  /// Those that are summed up.
  int64_t count() const { return std::ssize(values_); }

 private:
  std::vector<std::vector<float>> values_;
};

}  // namespace mlopt::quantize
