#include <cmath>

#include "prune/criteria.h"

namespace mlopt::prune {

Matrix magnitude(const Evidence& evidence) {
  Matrix scores = *evidence.values;
  for (float& x : scores.values) x = std::abs(x);
  return scores;
}

}  // namespace mlopt::prune
