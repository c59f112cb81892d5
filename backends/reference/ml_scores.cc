#include "backends/reference/ml_scores.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace mlopt::reference {
namespace {

double logistic(double x) {
  const double positive = 1 / (1 + std::exp(-std::abs(x)));
  return x < 0 ? 1 - positive : positive;
}

/// The inverse of the error function, by Winitzki's approximation (2008), which the standard's operators use.
double inverse_erf(double x) {
  constexpr double kA = 0.147;
  const double rest = (1 - x) * (1 + x);
  if (rest == 0) return 0;
  const double log = std::log(rest), v = 2 / (std::numbers::pi * kA) + log / 2;
  return std::copysign(std::sqrt(std::sqrt(v * v - log / kA) - v), x);
}

void softmax(std::span<double> row, bool keep_zeros) {
  if (row.empty()) return;
  constexpr double kZero = 1e-7;
  const double top = *std::max_element(row.begin(), row.end());
  double sum = 0;
  for (double& v : row) {
    v = keep_zeros && std::abs(v) <= kZero ? v * std::exp(-top) : std::exp(v - top);
    sum += v;
  }
  for (double& v : row) v = sum == 0 ? 0.5 : v / sum;
}

}  // namespace

PostTransform post_transform_of(const Call& call) {
  const std::string how = call.view.get_string("post_transform", "NONE");
  if (how == "NONE") return PostTransform::kNone;
  if (how == "SOFTMAX") return PostTransform::kSoftmax;
  if (how == "LOGISTIC") return PostTransform::kLogistic;
  if (how == "SOFTMAX_ZERO") return PostTransform::kSoftmaxZero;
  if (how == "PROBIT") return PostTransform::kProbit;
  fail(call, fmt::format("post_transform '{}' is unknown", how));
}

void transform_scores(std::span<double> row, PostTransform transform) {
  switch (transform) {
    case PostTransform::kNone:
      return;
    case PostTransform::kSoftmax:
      return softmax(row, false);
    case PostTransform::kSoftmaxZero:
      return softmax(row, true);
    case PostTransform::kLogistic:
      for (double& v : row) v = logistic(v);
      return;
    case PostTransform::kProbit:
      for (double& v : row) v = std::numbers::sqrt2 * inverse_erf(2 * v - 1);
      return;
  }
}

void spread_score(std::span<double> row, double score, bool probability, PostTransform transform) {
  const bool opposite = !probability || transform == PostTransform::kLogistic;
  row[0] = opposite ? -score : 1 - score;
  row[1] = score;
  if (transform == PostTransform::kLogistic || transform == PostTransform::kProbit) transform_scores(row, transform);
}

ClassLabels class_labels(const Call& call, std::string_view ints, std::string_view strings) {
  return {call.view.get_ints(ints), call.view.get_strings(strings)};
}

Tensor ClassLabels::picked(const Call& call, std::span<const int64_t> classes) const {
  const auto count = static_cast<int64_t>(classes.size());
  for (const int64_t c : classes)
    require(call, c >= 0 && (size() == 0 || c < static_cast<int64_t>(size())), "a class has no label");
  std::vector<std::string> texts;
  std::vector<int64_t> numbers;
  for (const int64_t c : classes) {
    if (!strings.empty())
      texts.push_back(strings[static_cast<size_t>(c)]);
    else
      numbers.push_back(ints.empty() ? c : ints[static_cast<size_t>(c)]);
  }
  return strings.empty() ? Tensor::ints(numbers) : Tensor::of_strings({count}, std::move(texts));
}

int64_t best_class(std::span<const double> row) { return std::max_element(row.begin(), row.end()) - row.begin(); }

Rows make_rows(int64_t count, int64_t width) {
  const Tensor fits(DType::kF64, {count, width});
  return {count, width, std::vector<double>(static_cast<size_t>(fits.size()), 0.0)};
}

Rows feature_rows(const Call& call, int input) {
  const Tensor& data = call.in(input);
  require(call, data.rank() == 1 || data.rank() == 2, "the features must be a list or a matrix");
  if (!is_float(data.dtype()) && !is_integer(data.dtype()) && data.dtype() != DType::kBool)
    wrong_type(call, data.dtype());
  return {data.rank() == 1 ? 1 : data.dim(0), data.dim(data.rank() - 1), to_doubles(data)};
}

void transform_targets(Rows& rows, PostTransform transform) {
  if (rows.width == 1 && transform != PostTransform::kProbit) return;
  for (int64_t n = 0; n < rows.count; ++n) transform_scores(rows.row(n), transform);
}

DType score_type(const Call& call, int i) {
  const Value* declared = call.view.node().output(i);
  return declared && declared->type.is_tensor() && declared->type.dtype == DType::kF64 ? DType::kF64 : DType::kF32;
}

void set_rows(Call& call, int i, const Rows& rows) {
  if (call.wants(i)) call.set(i, as(Tensor::of({rows.count, rows.width}, rows.values), score_type(call, i)));
}

}  // namespace mlopt::reference
