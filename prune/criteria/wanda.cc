#include <cmath>

#include "prune/criteria.h"

namespace mlopt::prune {

Matrix wanda(const Evidence& evidence) {
  const Weight& w = *evidence.weight;
  const Observed& seen = *evidence.observed;
  Matrix scores = *evidence.values;
  const int64_t per_group = w.rows / w.groups;
  for (int64_t r = 0; r < w.rows; ++r)
    for (int64_t c = 0; c < w.columns; ++c) {
      const double squares = seen.squares[static_cast<size_t>(r / per_group * w.columns + c)];
      scores.at(r, c) = static_cast<float>(std::abs(scores.at(r, c)) * std::sqrt(squares));
    }
  return scores;
}

}  // namespace mlopt::prune
