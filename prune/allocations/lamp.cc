#include <algorithm>
#include <numeric>

#include "prune/allocations.h"

namespace mlopt::prune {
namespace {

/// Of each unit: its energy as a share of what the layer would keep if all lesser ones went before it.
std::vector<float> lamp_scores(const Candidate& c) {
  std::vector<size_t> order(c.scores.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return c.scores[a] > c.scores[b]; });
  std::vector<float> scores(order.size());
  double kept = 0;
  for (const size_t u : order) {
    const double score = std::max(c.scores[u], 0.0F),
                 energy = score * score * static_cast<double>(c.units.size(static_cast<int64_t>(u)));
    kept += energy;
    scores[u] = c.scores[u] < 0 ? -1 : static_cast<float>(kept > 0 ? score * score / kept : 0);
  }
  return scores;
}

}  // namespace

void allocate_lamp(std::span<Candidate> candidates, double sparsity, Rivals /*rivals*/) {
  std::vector<std::vector<float>> scores;
  for (const Candidate& candidate : candidates) scores.push_back(lamp_scores(candidate));
  remove_least(candidates, scores, sparsity);
}

}  // namespace mlopt::prune
