#include <algorithm>
#include <cmath>
#include <vector>

#include "quantize/column_scales.h"
#include "quantize/methods.h"
#include "quantize/uniform/params.h"

namespace mlopt::quantize {
namespace {

constexpr int kShares = 20;          // a is tried in steps of one in so many
constexpr double kLeastSize = 1e-5;  // of a column, against its like of zeros

/// The weights that read one input, and what they are given.
class Smoothed {
 public:
  Smoothed(const SharedInput& input, std::span<const Weight> weights, const Observed& seen, const Spec& spec)
      : seen_(seen), spec_(spec) {
    for (const size_t i : input.weights) weights_.push_back(load(weights[i]));
    ranges_.resize(seen.peaks.size());
    for (const Matrix& w : weights_)
      for (int64_t r = 0; r < w.rows; ++r)
        for (size_t c = 0; c < ranges_.size(); ++c) ranges_[c] = std::max(ranges_[c], std::fabs(w.row(r)[c]));
  }

  /// What the columns are multiplied by.
  std::vector<float> scale(double share) const {
    std::vector<float> scale;
    for (size_t c = 0; c < ranges_.size(); ++c) {
      const double peak = std::max(static_cast<double>(seen_.peaks[c]), kLeastSize);
      const double range = std::max(static_cast<double>(ranges_[c]), kLeastSize);
      scale.push_back(static_cast<float>(std::pow(peak, share) / std::pow(range, 1 - share)));
    }
    return scale;
  }

  /// The squared error of the outputs, over all places, that steps of rounding which err evenly leave: those of the
  /// input times the weights, and those of the weights times the input.
  double noise(const std::vector<float>& scale) const {
    double peak = 0, inputs = 0;
    for (size_t c = 0; c < scale.size(); ++c) {
      const auto s = static_cast<double>(scale[c]);
      peak = std::max(peak, static_cast<double>(seen_.peaks[c]) / s);
      inputs += seen_.squares[c] / (s * s);
    }
    const double input_step = 2 * peak / (std::exp2(spec_.activation_bits) - 1);
    double of_inputs = 0, of_weights = 0;
    for (const Matrix& w : weights_) {
      double largest = 0, steps = 0;
      for (int64_t r = 0; r < w.rows; ++r) {
        double most = 0;
        for (size_t c = 0; c < scale.size(); ++c) {
          const double x = static_cast<double>(w.row(r)[c]) * static_cast<double>(scale[c]);
          most = std::max(most, std::fabs(x));
          of_inputs += x * x;
        }
        const double step = most / most_code(spec_.weight_bits);
        largest = std::max(largest, step);
        steps += step * step;
      }
      of_weights += spec_.per_tensor ? largest * largest * static_cast<double>(w.rows) : steps;
    }
    return input_step * input_step * of_inputs * static_cast<double>(seen_.rows) + of_weights * inputs;
  }

 private:
  const Observed& seen_;
  const Spec& spec_;
  std::vector<Matrix> weights_;
  std::vector<float> ranges_;  // of each column, over all weights
};

}  // namespace

int64_t smoothquant_scales(std::span<const Weight> weights, std::span<Observed> seen, std::span<const Spec> specs) {
  int64_t scaled = 0;
  for (const SharedInput& input : shared_inputs(weights)) {
    if (!folds_division(input, weights)) continue;
    const Smoothed smoothed(input, weights, seen[input.weights[0]], specs[input.weights[0]]);
    std::vector<float> best;
    double least = smoothed.noise(std::vector<float>(seen[input.weights[0]].peaks.size(), 1));
    for (int k = 0; k <= kShares; ++k) {
      std::vector<float> scale = smoothed.scale(static_cast<double>(k) / kShares);
      const double noise = smoothed.noise(scale);
      if (noise < least) least = noise, best = std::move(scale);
    }
    if (best.empty()) continue;
    scale_columns(input, weights, seen, best);
    ++scaled;
  }
  return scaled;
}

}  // namespace mlopt::quantize
