#include <numeric>

#include "prune/allocations.h"

namespace mlopt::prune {
namespace {

/// Inputs, outputs and sides of the kernel over their product.
double raw_density(const Weight& w) {
  int64_t sum = w.rows + w.columns / w.kernel;
  if (w.kernel > 1) {
    const Dims& dims = w.value->constant->dims();
    sum = std::accumulate(dims.begin() + 2, dims.end(), sum);
  }
  return static_cast<double>(sum) / static_cast<double>(w.size());
}

}  // namespace

void allocate_erk(std::span<Candidate> candidates, double sparsity, Rivals rivals) {
  std::vector<double> density(candidates.size());
  std::vector<bool> whole(candidates.size());
  // The factor that meets the sparsity; a layer that would have to be more than dense stays whole, and the others bear
  // what it does not.
  for (bool fits = false; !fits;) {
    double left = 0, raw = 0;
    for (size_t i = 0; i < candidates.size(); ++i) {
      const auto size = static_cast<double>(candidates[i].weight->size());
      left += size * (1 - sparsity) - (whole[i] ? size : 0);
      if (!whole[i]) raw += raw_density(*candidates[i].weight) * size;
    }
    fits = true;
    for (size_t i = 0; i < candidates.size(); ++i) {
      density[i] = whole[i] ? 1 : raw_density(*candidates[i].weight) * left / raw;
      if (density[i] <= 1) continue;
      whole[i] = true;
      fits = false;
    }
  }
  for (size_t i = 0; i < candidates.size(); ++i) remove_share(candidates[i], 1 - std::max(density[i], 0.0), rivals);
}

}  // namespace mlopt::prune
