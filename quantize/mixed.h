#pragma once
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/calib/weights.h"
#include "quantize/outputs.h"
#include "quantize/quantize.h"
#include "quantize/weight_format.h"

namespace mlopt::quantize {

/// The formats that are chosen from.
std::vector<WeightFormat> mixed_formats(const Weight& weight);

/// Chooses a format for each layer by what it does to the model's outputs. That is measured once for each weight, with
/// only this weight in four bits, or in fewer where four change nothing; for the other formats it is taken to grow as
/// the squared error of the weight does, and errors of several weights to add up (as in Dong et al. 2019, "HAWQ", with
/// the measured change of the outputs in place of a trace of the Hessian).
class MixedPlanner {
 public:
  /// Looks at a few samples of the data. The weights are those of `model`, which is as it was when this returns. Throws
  /// Error{kUsage} without data, and what running the model throws.
  MixedPlanner(const Model& model, std::span<const Weight> weights, const Spec& spec, const Means& means);

  struct Choice {
    std::map<std::string, WeightFormat> formats;  ///< by layer
    int64_t bytes = 0;                            ///< of its weights, without what their forms add
  };
  /// Formats whose weights take at most so many bytes together, with the least error of the outputs: from the smallest
  /// up, each byte where it gains most. The smallest where even these take more.
  Choice choose(int64_t bytes) const;
  /// What the smallest take.
  int64_t least_bytes() const;
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
    std::vector<Option> options;  ///< of all its weights, on the lower convex hull: bytes ascend, errors fall ever less
  };
  static std::vector<Option> hull_of(const std::vector<Option>& options);
  static std::vector<Option> options_of(const Model& model, const Weight& weight, bool groups, const Spec& spec,
                                        const Outputs& source, const Means& means);

  std::vector<Row> rows_;
  int64_t elements_ = 0;
};

}  // namespace mlopt::quantize
