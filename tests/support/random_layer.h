#pragma once
#include <vector>

#include "core/base/rng.h"
#include "core/calib/hessian.h"
#include "prune/criteria.h"

namespace mlopt::test {

/// A layer's weight and what it is given, both random; inputs are correlated.
struct RandomLayer {
  Weight weight;
  Matrix values;
  Observed seen;
  prune::Spec spec;

  RandomLayer(int64_t rows, int64_t columns, int64_t groups = 1, uint64_t seed = 1) {
    Rng rng(seed);
    weight.rows = rows, weight.columns = columns, weight.groups = groups;
    values = Matrix::zeros(rows, columns);
    for (float& x : values.values) x = static_cast<float>(rng.normal());
    seen.squares.resize(static_cast<size_t>(groups * columns));
    seen.products.assign(static_cast<size_t>(groups), std::vector<float>(static_cast<size_t>(columns * columns)));
    for (int64_t group = 0; group < groups; ++group) {
      Matrix rows_seen = Matrix::zeros(4 * columns, columns);
      for (int64_t r = 0; r < rows_seen.rows; ++r) {
        const double common = rng.normal();
        for (float& x : rows_seen.row(r)) x = static_cast<float>(common + rng.normal());
      }
      see(rows_seen, group, seen);
    }
  }

  prune::Evidence evidence() const {
    return {.weight = &weight, .values = &values, .spec = &spec, .index = 0, .observed = &seen};
  }

  /// The squared error of the outputs of row r, with the damping.
  double error(const Matrix& changed, int64_t r) const {
    const Dense h = damped_hessian(seen, r / (weight.rows / weight.groups), weight.columns);
    Eigen::RowVectorXd d(weight.columns);
    for (int64_t c = 0; c < weight.columns; ++c) d[c] = static_cast<double>(changed.at(r, c)) - values.at(r, c);
    return (d * h).dot(d);
  }
};

}  // namespace mlopt::test
