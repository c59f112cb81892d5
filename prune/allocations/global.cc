#include "prune/allocations.h"

namespace mlopt::prune {

void allocate_global(std::span<Candidate> candidates, double sparsity, Rivals /*rivals*/) {
  std::vector<std::vector<float>> scores;
  for (const Candidate& candidate : candidates) scores.push_back(candidate.scores);
  remove_least(candidates, scores, sparsity);
}

}  // namespace mlopt::prune
