#include "prune/allocations.h"

namespace mlopt::prune {

void allocate_uniform(std::span<Candidate> candidates, double sparsity, Rivals rivals) {
  for (Candidate& candidate : candidates) remove_share(candidate, sparsity, rivals);
}

}  // namespace mlopt::prune
