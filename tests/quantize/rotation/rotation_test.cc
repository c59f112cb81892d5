#include "quantize/rotation/rotation.h"

#include <algorithm>
#include <cmath>

#include "core/tensor/cast.h"
#include "tests/support/catch.h"
#include "tests/support/op.h"

using namespace mlopt;
using quantize::Rotation;

namespace {

/// Its rows.
std::vector<std::vector<double>> matrix(const Rotation& rotation) {
  std::vector<std::vector<double>> rows;
  for (int64_t i = 0; i < rotation.size(); ++i) {
    std::vector<double>& row = rows.emplace_back(static_cast<size_t>(rotation.size()));
    row[static_cast<size_t>(i)] = 1;
    rotation.apply(row);
  }
  return rows;
}

}  // namespace

TEST_CASE("a rotation is its own inverse, keeps lengths and leaves ones as they are") {
  for (const int64_t size : {1, 2, 8, 64, 3, 12, 30}) {
    INFO(size);
    const auto q = matrix(Rotation(size, 7));
    for (size_t i = 0; i < q.size(); ++i) {
      double ones = 0;
      for (size_t j = 0; j < q.size(); ++j) {
        double inverse = 0, product = 0;
        for (size_t k = 0; k < q.size(); ++k) inverse += q[i][k] * q[k][j], product += q[i][k] * q[j][k];
        CHECK(std::fabs(inverse - (i == j)) < 1e-12);
        CHECK(std::fabs(product - (i == j)) < 1e-12);
        ones += q[j][i];
      }
      CHECK(std::fabs(ones - 1) < 1e-12);
    }
  }
}

TEST_CASE("a feature that is large alone becomes a little of many") {
  for (const int64_t size : {256, 192}) {
    std::vector<double> x(static_cast<size_t>(size));
    x[17] = 1;
    Rotation(size, 0).apply(x);
    const double most = std::fabs(
        *std::max_element(x.begin(), x.end(), [](double a, double b) { return std::fabs(a) < std::fabs(b); }));
    CHECK(most < 0.4);
  }
}

TEST_CASE("tensors are rotated along their last or first axis, scaled before") {
  const Rotation rotation(6, 3);
  const auto q = matrix(rotation);
  const std::vector<float> scale = {1, 2, 3, 4, 5, 6};
  const Tensor rows = test::uniform({4, 6}, -1, 1), columns = test::uniform({6, 5}, -1, 1);
  const std::vector<float> r = to_floats(rows), c = to_floats(columns);
  const std::vector<float> rotated_rows = to_floats(rotation.apply(rows, 1, scale));
  const std::vector<float> rotated_columns = to_floats(rotation.apply(columns, 0));
  for (size_t i = 0; i < 4; ++i)
    for (size_t j = 0; j < 6; ++j) {
      double sum = 0;
      for (size_t k = 0; k < 6; ++k) sum += static_cast<double>(r[i * 6 + k]) * static_cast<double>(scale[k]) * q[k][j];
      CHECK(std::fabs(static_cast<double>(rotated_rows[i * 6 + j]) - sum) < 1e-5);
    }
  for (size_t i = 0; i < 5; ++i)
    for (size_t j = 0; j < 6; ++j) {
      double sum = 0;
      for (size_t k = 0; k < 6; ++k) sum += static_cast<double>(c[k * 5 + i]) * q[k][j];
      CHECK(std::fabs(static_cast<double>(rotated_columns[j * 5 + i]) - sum) < 1e-5);
    }
}
