#include "quantize/latency_plan.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>

#include "core/base/error.h"

namespace mlopt::quantize {
namespace {

constexpr int kRounds = 4;  // of measuring what was chosen

}  // namespace

LatencyPlanner::LatencyPlanner(std::vector<LayerTrial> trials, double allowed,
                               std::function<double(const std::vector<std::string>& floats)> measure)
    : trials_(std::move(trials)), allowed_(allowed), measure_(std::move(measure)) {
  all_ = measure_({});
  // A layer that is no faster in integers costs nothing: it comes before all others.
  const auto gain = [&](const LayerTrial& t) {
    return t.time > all_ ? t.error / (t.time - all_) : std::numeric_limits<double>::infinity();
  };
  std::stable_sort(trials_.begin(), trials_.end(),
                   [&](const LayerTrial& a, const LayerTrial& b) { return gain(a) > gain(b); });
}

std::vector<std::string> LatencyPlanner::names(size_t count) const {
  std::vector<std::string> found;
  for (size_t i = 0; i < count; ++i) found.push_back(trials_[i].layer);
  return found;
}

/// How many layers from the front fit, of which `from` are in already.
size_t LatencyPlanner::fitting(size_t from, double left) const {
  for (; from < trials_.size(); ++from) {
    left -= std::max(0.0, trials_[from].time - all_);
    if (left < 0) break;
  }
  return from;
}

std::vector<std::string> LatencyPlanner::choose() {
  time_ = all_;
  if (all_ > allowed_)
    usage_error(
        fmt::format("with all layers in integers a run takes {:.2f} of the source's time, and {:.2f} are allowed", all_,
                    allowed_),
        "mixed:latency", "allow more; a processor with a dot product of bytes, or --device, may do");
  size_t fits = 0, fails = trials_.size() + 1;  // so many were measured to fit, and not to
  for (int round = 0; round < kRounds; ++round) {
    const size_t expected = fitting(fits, allowed_ - time_);
    const size_t next = expected < fails ? expected : fits + (fails - fits) / 2;
    if (next <= fits) break;
    const double time = measure_(names(next));
    if (time > allowed_) {
      fails = next;
      continue;
    }
    fits = next;
    time_ = time;
  }
  return names(fits);
}

}  // namespace mlopt::quantize
