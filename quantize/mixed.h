#pragma once
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/calib/weights.h"
#include "quantize/quantize.h"
#include "quantize/weight_format.h"

namespace mlopt::quantize {

/// The formats that are chosen from.
std::vector<WeightFormat> mixed_formats(const Weight& weight);

/// Chooses a format for each weight by what it does to the model's outputs. That is measured once for each weight, with
/// only this weight in four bits; for the other formats it is taken to grow as the squared error of the weight does,
/// and errors of several weights to add up (as in Dong et al. 2019, "HAWQ", with the measured change of the outputs in
/// place of a trace of the Hessian).
class MixedPlanner {
 public:
  /// Looks at a few samples of the data. The weights are those of `model`, which is as it was when this returns. Throws
  /// Error{kUsage} without data, and what running the model throws.
  MixedPlanner(const Model& model, std::span<const Weight> weights, const Spec& spec, const Means& means);

  /// Formats by layer whose weights take at most so many bytes together, with the least error of the outputs: from the
  /// smallest up, each byte where it gains most. Throws Error{kUsage} when even the smallest take more.
  std::map<std::string, WeightFormat> choose(int64_t bytes) const;
  /// Numbers of the weights.
  int64_t elements() const { return elements_; }
  /// What the weights take in float32.
  int64_t float_bytes() const { return elements_ * static_cast<int64_t>(sizeof(float)); }

 private:
  struct Option {
    WeightFormat format;
    int64_t bytes = 0;
    double error = 0;
  };
  struct Row {
    std::string layer;
    std::vector<Option> options;  ///< on the lower convex hull: bytes ascend, errors fall ever less
  };
  static std::vector<Option> hull_of(const std::vector<Option>& options);

  std::vector<Row> rows_;
  int64_t elements_ = 0;
};

}  // namespace mlopt::quantize
