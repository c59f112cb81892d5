#pragma once
#include <functional>
#include <string>
#include <vector>

#include "quantize/quantize.h"

namespace mlopt::quantize {

/// What is known of a layer that may be in integers or stay float.
struct LayerTrial {
  std::string layer;
  double time = 0;   ///< of a run with this layer alone in float and all others in integers
  double error = 0;  ///< how far the outputs move with this layer alone in integers
};

/// Takes layers out of integers where this lessens the error most for the time that it costs, while the times that were
/// measured allow it: their costs are taken to add up, and what was chosen is measured and mended.
class LatencyPlanner {
 public:
  /// Times are shares of that of the source's run. `measure` gives that of a run with these layers in float.
  LatencyPlanner(std::vector<LayerTrial> trials, double allowed,
                 std::function<double(const std::vector<std::string>& floats)> measure);

  /// The layers that stay float. Throws Error{kBadInput} when a run takes longer even with all in integers.
  std::vector<std::string> choose();
  /// Of what was chosen, as measured.
  double time() const { return time_; }

 private:
  std::vector<std::string> names(size_t count) const;
  size_t fitting(size_t from, double left) const;

  std::vector<LayerTrial> trials_;  ///< those that gain most for their time first
  double allowed_, all_ = 0, time_ = 0;
  std::function<double(const std::vector<std::string>& floats)> measure_;
};

}  // namespace mlopt::quantize
