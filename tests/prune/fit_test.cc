#include "prune/fit.h"

#include <Eigen/LU>
#include <cmath>

#include "tests/support/catch.h"
#include "tests/support/random_layer.h"

using namespace mlopt;
using test::RandomLayer;

TEST_CASE("what is left is the solution of its normal equations") {
  for (const int64_t groups : {1, 2}) {
    const RandomLayer layer(4, 9, groups);
    Matrix pruned = layer.values;
    for (int64_t r = 0; r < 4; ++r)
      for (int64_t c = r % 2; c < 9; c += 2 + r) pruned.at(r, c) = 0;
    const Matrix after = prune::fitted(layer.weight, layer.seen, layer.values, pruned);
    for (int64_t r = 0; r < 4; ++r) {
      const Dense h = damped_hessian(layer.seen, r / (4 / groups), 9);
      std::vector<int64_t> kept;
      for (int64_t c = 0; c < 9; ++c)
        if (pruned.at(r, c) != 0) kept.push_back(c);
      Eigen::VectorXd wanted(9);
      for (int64_t c = 0; c < 9; ++c) wanted[c] = layer.values.at(r, c);
      const Eigen::MatrixXd own = h(kept, kept);
      const Eigen::VectorXd right = (h * wanted)(kept);
      const Eigen::VectorXd solution = own.inverse() * right;
      for (int64_t c = 0, k = 0; c < 9; ++c)
        CHECK(after.at(r, c) == Approx(pruned.at(r, c) == 0 ? 0 : solution[k++]).margin(1e-4));
    }
  }
}

TEST_CASE("what is given now makes up for what the original was given") {
  RandomLayer layer(3, 6);
  // The original was given twice as much: with all weights there, the fit is nearly twice the weights.
  layer.seen.crossed = layer.seen.products;
  for (float& x : layer.seen.crossed[0].own()) x *= 2;
  const Dense h = damped_hessian(layer.seen, 0, 6);
  Dense goal = 2 * h;
  goal.diagonal().array() -= damping(layer.seen, 0, 6);
  const Matrix after = prune::fitted(layer.weight, layer.seen, layer.values, layer.values);
  for (int64_t r = 0; r < 3; ++r) {
    Eigen::RowVectorXd w(6);
    for (int64_t c = 0; c < 6; ++c) w[c] = layer.values.at(r, c);
    const Eigen::RowVectorXd wanted = w * goal * h.inverse();
    for (int64_t c = 0; c < 6; ++c) CHECK(after.at(r, c) == Approx(wanted[c]).margin(1e-4));
  }
}

TEST_CASE("a row without weights, and one that is as it was, stay as they are") {
  const RandomLayer layer(2, 4);
  Matrix pruned = layer.values;
  for (float& x : pruned.row(0)) x = 0;
  const Matrix after = prune::fitted(layer.weight, layer.seen, layer.values, pruned);
  for (int64_t c = 0; c < 4; ++c) {
    CHECK(after.at(0, c) == 0);
    CHECK(after.at(1, c) == layer.values.at(1, c));
  }
}
