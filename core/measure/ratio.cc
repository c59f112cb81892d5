#include "core/measure/ratio.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/measure/stats.h"

namespace mlopt {
namespace {

constexpr size_t kFewBlocks = 4;
constexpr double kWide = 1.2;  // high / low of an interval that says nothing

}  // namespace

bool Ratio::rests_on_few() const { return blocks < kFewBlocks; }
bool Ratio::inconclusive() const { return rests_on_few() || (!faster() && !slower() && high > kWide * low); }

Ratio speed_ratio(const std::vector<Block>& first, const std::vector<Block>& other, uint64_t seed) {
  std::vector<double> ratios;
  for (size_t b = 0; b < std::min(first.size(), other.size()); ++b) {
    const double mine = median(other[b].seconds);
    if (mine > 0 && !first[b].seconds.empty()) ratios.push_back(median(first[b].seconds) / mine);
  }
  if (ratios.empty()) return {};
  const Estimate found = bootstrap_median(ratios, seed);
  return {.median = found.median, .low = found.low, .high = found.high, .blocks = ratios.size()};
}

std::string in_words(const Ratio& ratio) {
  if (ratio.rests_on_few()) return "inconclusive (too few runs)";
  if (ratio.inconclusive()) return fmt::format("inconclusive ({:.2f} to {:.2f})", ratio.low, ratio.high);
  if (ratio.faster()) return fmt::format("{:.2f}x faster ({:.2f} to {:.2f})", ratio.median, ratio.low, ratio.high);
  if (ratio.slower()) {
    return fmt::format("{:.2f}x slower ({:.2f} to {:.2f})", 1 / ratio.median, 1 / ratio.high, 1 / ratio.low);
  }
  return fmt::format("as fast ({:.2f} to {:.2f})", ratio.low, ratio.high);
}

}  // namespace mlopt
