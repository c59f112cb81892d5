#include <cmath>

#include "core/calib/hessian.h"
#include "prune/criteria.h"

namespace mlopt::prune {

Matrix obs(const Evidence& evidence) {
  const Weight& w = *evidence.weight;
  Matrix scores = *evidence.values;
  const int64_t rows = w.rows / w.groups;
  for (int64_t group = 0; group < w.groups; ++group) {
    const Dense factor = inverse_factor(damped_hessian(*evidence.observed, group, w.columns));
    const Eigen::VectorXd diagonal = factor.colwise().squaredNorm();  // of the inverse
    for (int64_t r = group * rows; r < (group + 1) * rows; ++r)
      for (int64_t c = 0; c < w.columns; ++c)
        scores.at(r, c) = static_cast<float>(std::abs(scores.at(r, c)) / std::sqrt(diagonal[c]));
  }
  return scores;
}

}  // namespace mlopt::prune
