#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "quantize/fits.h"

namespace mlopt::quantize {
namespace {

/// Points that ascend, each with a weight, and sums over the first i of them.
class Points {
 public:
  Points(std::vector<std::pair<float, double>> points) : points_(std::move(points)) {
    std::sort(points_.begin(), points_.end());
    for (const auto& [x, w] : points_) {
      weight_.push_back(weight_.back() + w);
      first_.push_back(first_.back() + w * static_cast<double>(x));
      second_.push_back(second_.back() + w * static_cast<double>(x) * static_cast<double>(x));
    }
  }
  size_t size() const { return points_.size(); }
  float at(size_t i) const { return points_[i].first; }
  double weight(size_t begin, size_t end) const { return weight_[end] - weight_[begin]; }
  double mean(size_t begin, size_t end) const {
    const double w = weight(begin, end);
    return w > 0 ? (first_[end] - first_[begin]) / w : static_cast<double>(at(begin));
  }
  /// The squared distance of [begin, end) from its mean.
  double spread(size_t begin, size_t end) const {
    const double sum = first_[end] - first_[begin], w = weight(begin, end);
    return w > 0 ? std::max(0.0, second_[end] - second_[begin] - sum * sum / w) : 0;
  }
  /// The first point that is above x.
  size_t above(double x) const {
    const auto less = [](double a, const std::pair<float, double>& p) { return a < static_cast<double>(p.first); };
    return static_cast<size_t>(std::upper_bound(points_.begin(), points_.end(), x, less) - points_.begin());
  }

 private:
  std::vector<std::pair<float, double>> points_;
  std::vector<double> weight_ = {0}, first_ = {0}, second_ = {0};
};

/// Where the clusters of the optimum begin, by dynamic programming over their ends; the best beginning of the last
/// cluster never moves back as its end moves on, so that each half of the ends searches a part of the beginnings.
class Optimum {
 public:
  Optimum(const Points& points, size_t clusters)
      : points_(points), cost_(points.size() + 1), next_(cost_.size()), begin_(clusters) {
    for (size_t end = 1; end <= points.size(); ++end) cost_[end] = points.spread(0, end);
    begin_[0].assign(cost_.size(), 0);
    for (size_t k = 1; k < clusters; ++k) {
      begin_[k].assign(cost_.size(), 0);
      search(k, 1, points.size(), 0, points.size());
      cost_.swap(next_);
    }
  }

  std::vector<size_t> begins() const {
    std::vector<size_t> found(begin_.size());
    size_t end = points_.size();
    for (size_t k = begin_.size(); k-- > 0;) end = found[k] = begin_[k][end];
    return found;
  }

 private:
  void search(size_t k, size_t low, size_t high, size_t from, size_t to) {
    if (low > high) return;
    const size_t end = low + (high - low) / 2;
    double least = std::numeric_limits<double>::infinity();
    size_t best = from;
    for (size_t begin = from; begin <= std::min(to, end); ++begin) {
      const double cost = cost_[begin] + (begin < end ? points_.spread(begin, end) : 0);
      if (cost < least) least = cost, best = begin;
    }
    next_[end] = least;
    begin_[k][end] = static_cast<uint32_t>(best);
    search(k, low, end - 1, from, best);
    search(k, end + 1, high, best, to);
  }

  const Points& points_;
  std::vector<double> cost_, next_;
  std::vector<std::vector<uint32_t>> begin_;
};

std::vector<std::pair<float, double>> points_of(const Group& group) {
  std::vector<std::pair<float, double>> points;
  for (size_t i = 0; i < group.values.size(); ++i)
    if (std::isfinite(group.values[i])) points.emplace_back(group.values[i], static_cast<double>(group.weight(i)));
  return points;
}

/// Neighbours as one, so that at most `most` are left.
Points thinned(const Points& points, size_t most) {
  std::vector<std::pair<float, double>> fewer;
  for (size_t k = 0; k < most; ++k) {
    const size_t begin = points.size() * k / most, end = points.size() * (k + 1) / most;
    if (begin < end) fewer.emplace_back(static_cast<float>(points.mean(begin, end)), points.weight(begin, end));
  }
  return Points(std::move(fewer));
}

/// Lloyd's steps, each cluster found by looking for its borders.
void settle(const Points& points, std::vector<double>& centres) {
  constexpr int kSteps = 100;
  for (int step = 0; step < kSteps; ++step) {
    bool moved = false;
    size_t begin = 0;
    for (size_t k = 0; k < centres.size(); ++k) {
      const size_t end =
          k + 1 < centres.size() ? std::max(begin, points.above((centres[k] + centres[k + 1]) / 2)) : points.size();
      if (begin < end) {
        const double mean = points.mean(begin, end);
        moved = moved || mean != centres[k];
        centres[k] = mean;
      }
      begin = end;
    }
    if (!moved) return;
  }
}

/// Weights that were pruned stay zeros.
void keep_zero(const Group& group, std::span<float> codebook) {
  if (std::find(group.values.begin(), group.values.end(), 0.0f) == group.values.end()) return;
  *std::min_element(codebook.begin(), codebook.end(), [](float a, float b) { return std::fabs(a) < std::fabs(b); }) = 0;
}

}  // namespace

Alphabet fit_codebook(const Group& group) {
  constexpr size_t kExact = 1024;  // points whose optimum is looked for; more are thinned, and Lloyd's steps follow
  const Alphabet alphabet{1, 0, group.codebook, static_cast<int>(group.codebook.size()) - 1};
  const Points points(points_of(group));
  if (points.size() == 0) return alphabet;
  const bool few = points.size() <= kExact;
  const Points fewer = few ? Points(points) : thinned(points, kExact);
  const std::vector<size_t> begins = Optimum(fewer, group.codebook.size()).begins();
  std::vector<double> centres;
  for (size_t k = 0; k < begins.size(); ++k) {
    const size_t end = k + 1 < begins.size() ? begins[k + 1] : fewer.size();
    centres.push_back(begins[k] < end   ? fewer.mean(begins[k], end)
                      : centres.empty() ? static_cast<double>(points.at(0))
                                        : centres.back());
  }
  if (!few) settle(points, centres);
  for (size_t k = 0; k < centres.size(); ++k) group.codebook[k] = static_cast<float>(centres[k]);
  keep_zero(group, group.codebook);
  return alphabet;
}

}  // namespace mlopt::quantize
