#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "quantize/column_scales.h"
#include "quantize/methods.h"

namespace mlopt::quantize {
namespace {

using Floats = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// How large each feature of the input is, to the power of `share`, around 1.
std::vector<float> scale_of(const Observed& seen, double share) {
  std::vector<float> scale;
  double log_sum = 0;
  for (const double square : seen.squares) {
    const double size = std::max(1e-4, std::sqrt(square / static_cast<double>(std::max<int64_t>(1, seen.rows))));
    scale.push_back(static_cast<float>(std::pow(size, share)));
    log_sum += share * std::log(size);
  }
  const auto middle = static_cast<float>(std::exp(log_sum / static_cast<double>(std::max<size_t>(1, scale.size()))));
  for (float& s : scale) s /= middle;
  return scale;
}

/// The squared error of the outputs of these rows when the weight is rounded in scaled columns.
double output_error(const Matrix& rows, const Observed& seen, const Scheme& scheme, const std::vector<float>& scale) {
  Matrix scaled = rows;
  Observed inputs{seen.rows, seen.squares, {}, {}};
  for (int64_t c = 0; c < rows.columns; ++c) {
    const float s = scale[static_cast<size_t>(c)];
    for (int64_t r = 0; r < rows.rows; ++r) scaled.at(r, c) *= s;
    inputs.squares[static_cast<size_t>(c)] /= static_cast<double>(s) * static_cast<double>(s);
  }
  const Matrix rounded = decode(encode(find_method("mse"), {scaled, scheme, &inputs, 1}));
  Floats error(rows.rows, rows.columns);
  for (int64_t r = 0; r < rows.rows; ++r)
    for (int64_t c = 0; c < rows.columns; ++c)
      error(r, c) = rounded.at(r, c) / scale[static_cast<size_t>(c)] - rows.at(r, c);
  const Eigen::Map<const Floats> products(seen.products[0].data(), rows.columns, rows.columns);
  const Floats seen_errors = error * products;
  return static_cast<double>(seen_errors.cwiseProduct(error).sum());
}

}  // namespace

int64_t awq_scales(std::span<const Weight> weights, std::span<Observed> seen, std::span<const Spec> specs) {
  constexpr int kShares = 20;
  int64_t scaled = 0;
  for (const SharedInput& input : shared_inputs(weights)) {
    std::vector<Matrix> rows;
    std::vector<Scheme> schemes;
    for (const size_t i : input.weights) {
      rows.push_back(sampled_rows(weights[i]));
      schemes.push_back(specs[i].scheme());
    }
    double least = std::numeric_limits<double>::infinity();
    int best = 0;
    for (int k = 0; k < kShares; ++k) {
      const std::vector<float> scale = scale_of(seen[input.weights[0]], static_cast<double>(k) / kShares);
      double error = 0;
      for (size_t i = 0; i < rows.size(); ++i)
        error += output_error(rows[i], seen[input.weights[i]], schemes[i], scale);
      if (error < least) least = error, best = k;
    }
    if (best == 0) continue;
    scale_columns(input, weights, seen, scale_of(seen[input.weights[0]], static_cast<double>(best) / kShares));
    ++scaled;
  }
  return scaled;
}

}  // namespace mlopt::quantize
