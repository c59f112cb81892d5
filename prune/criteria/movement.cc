#include "prune/criteria.h"

namespace mlopt::prune {

Matrix movement(const Evidence& evidence) {
  const Weight& weight = *evidence.weight;
  Matrix scores = Matrix::zeros(weight.rows, weight.columns);
  const auto* from = evidence.movement->data<float>();
  for (int64_t r = 0; r < weight.rows; ++r)
    for (int64_t c = 0; c < weight.columns; ++c)
      scores.at(r, c) = from[weight.row_at[static_cast<size_t>(r)] + weight.column_at[static_cast<size_t>(c)]];
  return scores;
}

}  // namespace mlopt::prune
