#include "prune/criteria.h"

#include <Eigen/LU>
#include <algorithm>
#include <cmath>

#include "core/calib/hessian.h"
#include "tests/support/catch.h"
#include "tests/support/random_layer.h"

using namespace mlopt;
using test::RandomLayer;

namespace {

int64_t zeros(std::span<const float> numbers) { return std::count(numbers.begin(), numbers.end(), 0.0F); }

/// What SparseGPT does to a row whose mask is known, by its definition: each column that goes is made up for by the
/// best change of those behind it, whose Hessian's inverse is computed anew.
Eigen::RowVectorXd eliminated(const Dense& hessian, Eigen::RowVectorXd row, const std::vector<bool>& gone) {
  const int64_t n = row.size();
  for (int64_t j = 0; j < n; ++j) {
    if (!gone[static_cast<size_t>(j)]) continue;
    const Eigen::MatrixXd inverse = hessian.bottomRightCorner(n - j, n - j).inverse();
    row.tail(n - j) -= row[j] / inverse(0, 0) * inverse.row(0);
    row[j] = 0;
  }
  return row;
}

}  // namespace

TEST_CASE("wanda is the weight times the norm of its group's input") {
  RandomLayer layer(2, 3, 2);
  layer.values.values = {1, -2, 3, 4, 5, -6};
  layer.seen.squares = {4, 9, 16, 1, 0, 25};
  CHECK(prune::wanda(layer.evidence()).values == std::vector<float>{2, 6, 12, 4, 0, 30});
}

TEST_CASE("obs is what removing a weight costs when the others make up for it") {
  const RandomLayer layer(2, 5);
  const Matrix scores = prune::obs(layer.evidence());
  const Dense h = damped_hessian(layer.seen, 0, 5);
  const Eigen::MatrixXd inverse = h.inverse();
  for (int64_t r = 0; r < 2; ++r)
    for (int64_t c = 0; c < 5; ++c) {
      // The best row without weight c, by the equations of the others.
      Matrix best = layer.values;
      const double step = layer.values.at(r, c) / inverse(c, c);
      for (int64_t k = 0; k < 5; ++k) best.at(r, k) -= static_cast<float>(step * inverse(k, c));
      CHECK(best.at(r, c) == Approx(0).margin(1e-5));
      CHECK(std::pow(scores.at(r, c), 2) == Approx(layer.error(best, r)).epsilon(1e-3));
    }
}

TEST_CASE("sparsegpt gives what eliminating column after column gives") {
  for (const int64_t groups : {1, 2}) {
    const RandomLayer layer(6, 12, groups);
    const Matrix after = prune::sparsegpt(layer.evidence(), 0.5);
    CHECK(zeros(after.values) == 36);
    for (int64_t r = 0; r < 6; ++r) {
      Eigen::RowVectorXd row(12);
      std::vector<bool> gone;
      for (int64_t c = 0; c < 12; ++c) {
        row[c] = layer.values.at(r, c);
        gone.push_back(after.at(r, c) == 0);
      }
      const Dense h = damped_hessian(layer.seen, r / (6 / groups), 12);
      const Eigen::RowVectorXd wanted = eliminated(h, row, gone);
      for (int64_t c = 0; c < 12; ++c) CHECK(after.at(r, c) == Approx(wanted[c]).margin(1e-4));
    }
  }
}

TEST_CASE("sparsegpt goes on behind the columns that it chooses at once") {
  const RandomLayer layer(4, 300);
  const Matrix after = prune::sparsegpt(layer.evidence(), 0.5);
  CHECK(zeros(after.values) == 600);
  const Dense h = damped_hessian(layer.seen, 0, 300);
  Eigen::RowVectorXd row(300);
  std::vector<bool> gone;
  for (int64_t c = 0; c < 300; ++c) {
    row[c] = layer.values.at(1, c);
    gone.push_back(after.at(1, c) == 0);
  }
  const Eigen::RowVectorXd wanted = eliminated(h, row, gone);
  for (int64_t c = 0; c < 300; ++c) CHECK(after.at(1, c) == Approx(wanted[c]).margin(1e-3));
}

TEST_CASE("sparsegpt costs the outputs less than leaving the rest as it is") {
  const RandomLayer layer(8, 32);
  const Matrix after = prune::sparsegpt(layer.evidence(), 0.5);
  Matrix masked = layer.values;
  for (size_t i = 0; i < masked.values.size(); ++i)
    if (after.values[i] == 0) masked.values[i] = 0;
  double corrected = 0, plain = 0;
  for (int64_t r = 0; r < 8; ++r) {
    corrected += layer.error(after, r);
    plain += layer.error(masked, r);
  }
  CHECK(corrected < 0.8 * plain);
}

TEST_CASE("sparsegpt keeps patterns, and the zeros that there were") {
  RandomLayer layer(4, 16);
  layer.spec.granularity = prune::parse_granularity("2:4");
  layer.values.at(2, 5) = 0;
  const Matrix after = prune::sparsegpt(layer.evidence(), 0);
  CHECK(after.at(2, 5) == 0);
  for (int64_t r = 0; r < 4; ++r)
    for (size_t c = 0; c < 16; c += 4) CHECK(zeros(after.row(r).subspan(c, 4)) == 2);
  layer.spec.granularity = {};
  const Matrix elements = prune::sparsegpt(layer.evidence(), 0.5);
  CHECK(elements.at(2, 5) == 0);
  CHECK(zeros(elements.values) == 32);
}
