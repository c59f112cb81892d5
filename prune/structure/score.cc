#include "prune/structure/score.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_map>

#include "core/base/rng.h"
#include "prune/finite.h"
#include "prune/structure/member_weight.h"

namespace mlopt::prune {
namespace {

/// The sum of |w|^p over every slice of an axis.
std::vector<double> slice_sums(const Tensor& numbers, int axis, bool squared) {
  const auto n = static_cast<size_t>(numbers.dim(axis));
  const auto inner = static_cast<size_t>(row_major_strides(numbers.dims())[static_cast<size_t>(axis)]);
  std::vector<double> sums(n);
  const float* at = numbers.data<float>();
  for (const float* end = at + numbers.size(); at != end;)
    for (size_t i = 0; i < n; ++i, at += inner) {
      double sum = 0;
      for (size_t k = 0; k < inner; ++k) sum += squared ? double{at[k]} * at[k] : std::abs(double{at[k]});
      sums[i] += sum;
    }
  return sums;
}

/// Of what is added to scores of attention, infinities say nothing of what is needed.
bool is_mask(const Axis& axis, const std::vector<double>& sums) {
  const auto& uses = axis.value->uses;
  return std::all_of(uses.begin(), uses.end(), [](const Use& use) { return use.node->is("Add"); }) &&
         std::any_of(sums.begin(), sums.end(), [](double x) { return std::isinf(x); });
}

class Scorer {
 public:
  Scorer(const Relations& all, bool squared, bool compares = true)
      : all_(all), squared_(squared), compares_(compares) {}

  std::vector<double> score(const Group& group) {
    const Side made = side(group, true), read = side(group, false);
    if (read.weights == 0) return made.means;
    std::vector<double> scores = read.means;
    for (size_t c = 0; c < scores.size() && made.weights > 0; ++c)
      if (made.means[c] == 0) scores[c] = 0;
    return scores;
  }

 private:
  struct Side {
    std::vector<double> means;  ///< of each channel's norms over the weights, in relation to the group's
    int weights = 0;
  };

  /// Of the weights that make the channels, or of those that read them.
  Side side(const Group& group, bool makes) {
    Side side{std::vector<double>(group.channels.size())};
    for (const size_t a : group.axes) {
      if ((all_.atoms.axes()[a].producer != nullptr) != makes) continue;
      const std::vector<double> part = norms(group, a);
      const double sum = std::accumulate(part.begin(), part.end(), 0.0);
      if (sum == 0) continue;
      for (size_t c = 0; c < part.size(); ++c) side.means[c] += part[c] * static_cast<double>(part.size()) / sum;
      ++side.weights;
    }
    for (double& v : side.means) v /= std::max(1, side.weights);
    return side;
  }

  /// Of the part of each channel on the axis; empty where the axis is not that of a weight.
  std::vector<double> norms(const Group& group, size_t a) {
    const auto [it, fresh] = sums_.try_emplace(a);
    if (fresh) it->second = sums_of(all_.atoms.axes()[a]);
    const std::vector<double>& sums = it->second;
    std::vector<double> norms;
    if (sums.empty()) return norms;
    for (const Channel& channel : group.channels) {
      double sum = 0;
      for (const auto& [on, position] : channel)
        if (on == a) sum += sums[static_cast<size_t>(position)];
      norms.push_back(squared_ ? std::sqrt(sum) : sum);
    }
    return norms;
  }

  std::vector<double> sums_of(const Axis& axis) const {
    const auto numbers = member_weight(axis);
    if (!numbers) return {};
    std::vector<double> sums = slice_sums(*numbers, axis.axis, squared_);
    if (axis.value->constant) axis.value->constant->release_pages();
    if (is_mask(axis, sums)) return {};
    if (compares_) require_finite(sums, axis.value->name);
    for (double& x : sums)
      if (!std::isfinite(x)) x = 1;  // it is not zero
    return sums;
  }

  const Relations& all_;
  bool squared_, compares_;
  std::unordered_map<size_t, std::vector<double>> sums_;
};

}  // namespace

std::vector<std::vector<double>> score_channels(const Relations& all, const std::vector<Group>& groups,
                                                ChannelScore score, uint64_t seed) {
  std::vector<std::vector<double>> scores;
  Scorer scorer(all, score == ChannelScore::kL2);
  Rng rng(seed);
  for (const Group& group : groups) {
    if (score != ChannelScore::kRandom) {
      scores.push_back(scorer.score(group));
      continue;
    }
    std::vector<double>& random = scores.emplace_back();
    for (size_t i = 0; i < group.channels.size(); ++i) random.push_back(rng.uniform());
  }
  return scores;
}

std::vector<std::vector<double>> score_channels(const std::vector<Group>& groups, const AxisScores& axes) {
  std::vector<std::vector<double>> scores;
  for (const Group& group : groups) {
    const auto told = static_cast<double>(
        std::count_if(group.axes.begin(), group.axes.end(), [&](size_t a) { return axes.contains(a); }));
    std::vector<double>& score = scores.emplace_back();
    for (const Channel& channel : group.channels) {
      double sum = 0;
      for (const auto& [axis, position] : channel)
        if (const auto found = axes.find(axis); found != axes.end())
          sum += found->second[static_cast<size_t>(position)];
      score.push_back(sum / std::max(1.0, told));
    }
  }
  return scores;
}

void put_zeros_first(const Relations& all, const std::vector<Group>& groups, std::vector<std::vector<double>>& scores,
                     bool compared) {
  Scorer sizes(all, false, compared);
  for (size_t g = 0; g < groups.size(); ++g) {
    const std::vector<double> left = sizes.score(groups[g]);
    if (std::all_of(left.begin(), left.end(), [](double x) { return x == 0; })) continue;  // no weight tells
    const double least = *std::min_element(scores[g].begin(), scores[g].end());
    for (size_t c = 0; c < left.size(); ++c)
      if (left[c] == 0) scores[g][c] = std::min(least, 0.0) - 1;
  }
}

}  // namespace mlopt::prune
