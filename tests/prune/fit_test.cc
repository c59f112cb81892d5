#include "prune/fit.h"

#include <Eigen/LU>
#include <cmath>

#include "tests/support/catch.h"
#include "tests/support/random_layer.h"

using namespace mlopt;
using prune::Dense;
using prune::Matrix;
using test::RandomLayer;

TEST_CASE("what is left is the solution of its normal equations") {
  for (const int64_t groups : {1, 2}) {
    const RandomLayer layer(4, 9, groups);
    Matrix pruned = layer.values;
    for (int64_t r = 0; r < 4; ++r)
      for (int64_t c = r % 2; c < 9; c += 2 + r) pruned.at(r, c) = 0;
    const Matrix after = prune::fitted(layer.weight, layer.seen, layer.values, pruned);
    for (int64_t r = 0; r < 4; ++r) {
      const Dense h = prune::damped_hessian(layer.seen, r / (4 / groups), 9);
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
