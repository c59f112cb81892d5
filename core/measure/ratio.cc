#include "core/measure/ratio.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/base/rng.h"
#include "core/measure/stats.h"

namespace mlopt {
namespace {

constexpr int kResamples = 2000;
constexpr size_t kFewBlocks = 4;
constexpr double kWide = 1.2;  // high / low of an interval that says nothing

}  // namespace

bool Ratio::inconclusive() const { return blocks < kFewBlocks || (!faster() && !slower() && high > kWide * low); }

Ratio speed_ratio(const std::vector<Block>& first, const std::vector<Block>& other, uint64_t seed) {
  std::vector<double> ratios;
  for (size_t b = 0; b < std::min(first.size(), other.size()); ++b) {
    const double mine = median(other[b].seconds);
    if (mine > 0 && !first[b].seconds.empty()) ratios.push_back(median(first[b].seconds) / mine);
  }
  Ratio ratio;
  ratio.blocks = ratios.size();
  if (ratios.empty()) return ratio;
  ratio.median = median(ratios);
  Rng rng(seed);
  std::vector<double> medians, sample(ratios.size());
  for (int i = 0; i < kResamples; ++i) {
    for (double& r : sample) r = ratios[static_cast<size_t>(rng.integer(0, static_cast<int64_t>(ratios.size()) - 1))];
    medians.push_back(median(sample));
  }
  std::sort(medians.begin(), medians.end());
  ratio.low = quantile(medians, 0.025);
  ratio.high = quantile(medians, 0.975);
  return ratio;
}

std::string in_words(const Ratio& ratio) {
  if (ratio.inconclusive()) return fmt::format("inconclusive ({:.2f} to {:.2f})", ratio.low, ratio.high);
  if (ratio.faster()) return fmt::format("{:.2f}x faster ({:.2f} to {:.2f})", ratio.median, ratio.low, ratio.high);
  if (ratio.slower()) {
    return fmt::format("{:.2f}x slower ({:.2f} to {:.2f})", 1 / ratio.median, 1 / ratio.high, 1 / ratio.low);
  }
  return fmt::format("as fast ({:.2f} to {:.2f})", ratio.low, ratio.high);
}

}  // namespace mlopt
