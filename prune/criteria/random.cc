#include "core/base/rng.h"
#include "prune/criteria.h"

namespace mlopt::prune {

Matrix random(const Evidence& evidence) {
  Rng rng(seed_of({evidence.spec->seed, static_cast<uint64_t>(evidence.index)}));
  Matrix scores = *evidence.values;
  for (float& x : scores.values) x = static_cast<float>(rng.uniform());
  return scores;
}

}  // namespace mlopt::prune
