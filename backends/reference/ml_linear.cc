#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "backends/reference/kernels.h"
#include "backends/reference/ml_scores.h"

namespace mlopt::reference {
namespace {

constexpr std::string_view kDomain = "ai.onnx.ml";

/// x * coefficients^T + intercepts for `targets` rows of coefficients.
Rows linear_scores(const Call& call, int64_t targets) {
  const Rows x = feature_rows(call, 0);
  const std::vector<float> coefficients = call.view.get_floats("coefficients"),
                           intercepts = call.view.get_floats("intercepts");
  require(call, targets > 0, "there are no targets");
  if (static_cast<int64_t>(coefficients.size()) != element_count({targets, x.width}))
    fail(call,
         fmt::format("{} coefficients are given for {} targets of {} features", coefficients.size(), targets, x.width));
  require(call, intercepts.empty() || static_cast<int64_t>(intercepts.size()) == targets,
          "there must be one intercept for each target");
  Rows scores = make_rows(x.count, targets);
  for (int64_t n = 0; n < x.count; ++n)
    for (int64_t t = 0; t < targets; ++t) {
      double sum = intercepts.empty() ? 0 : static_cast<double>(intercepts[static_cast<size_t>(t)]);
      for (int64_t f = 0; f < x.width; ++f)
        sum +=
            x.row(n)[static_cast<size_t>(f)] * static_cast<double>(coefficients[static_cast<size_t>(t * x.width + f)]);
      scores.row(n)[static_cast<size_t>(t)] = sum;
    }
  return scores;
}

void linear_regressor(Call& call) {
  Rows scores = linear_scores(call, call.view.get_int("targets", 1));
  transform_targets(scores, post_transform_of(call));
  set_rows(call, 0, scores);
}

void linear_classifier(Call& call) {
  const ClassLabels labels = class_labels(call, "classlabels_ints", "classlabels_strings");
  const auto intercepts = static_cast<int64_t>(call.view.get_floats("intercepts").size());
  const int64_t width = std::max<int64_t>(1, feature_rows(call, 0).width);
  const auto coefficients = static_cast<int64_t>(call.view.get_floats("coefficients").size());
  Rows scores = linear_scores(call, intercepts > 0 ? intercepts : coefficients / width);
  const PostTransform transform = post_transform_of(call);

  // One score for two classes: the second class when it is positive.
  const bool two_from_one = scores.width == 1 && labels.size() == 2;
  std::vector<int64_t> best;
  Rows out = two_from_one ? make_rows(scores.count, 2) : scores;
  for (int64_t n = 0; n < scores.count; ++n) {
    const std::span<const double> row = scores.row(n);
    best.push_back(scores.width == 1 ? row[0] > 0 : best_class(row));
    if (two_from_one)
      spread_score(out.row(n), row[0], true, transform);
    else
      transform_scores(out.row(n), transform);
  }
  const bool single = scores.width == 1 && labels.size() < 2;
  call.set(0, (single ? ClassLabels{} : labels).picked(call, best));
  set_rows(call, 1, out);
}

void scaler(Call& call) {
  const Tensor& data = call.in(0);
  const std::vector<float> offset = call.view.get_floats("offset"), scale = call.view.get_floats("scale");
  const int64_t width = data.rank() > 0 ? data.dim(data.rank() - 1) : 1;
  for (const std::vector<float>* list : {&offset, &scale})
    require(call, list->size() <= 1 || static_cast<int64_t>(list->size()) == width,
            "offset and scale must have one number or one for each feature");
  std::vector<double> values = to_doubles(data);
  const auto of = [&](const std::vector<float>& list, size_t i, float otherwise) {
    return static_cast<double>(list.empty() ? otherwise : list.size() == 1 ? list[0] : list[i % list.size()]);
  };
  for (size_t i = 0; i < values.size(); ++i) values[i] = (values[i] - of(offset, i, 0)) * of(scale, i, 1);
  call.set(0, as(Tensor::of(data.dims(), values), score_type(call, 0)));
}

void normalizer(Call& call) {
  Rows rows = feature_rows(call, 0);
  const std::string norm = call.view.get_string("norm", "MAX");
  require(call, norm == "MAX" || norm == "L1" || norm == "L2", "norm must be MAX, L1 or L2");
  for (int64_t n = 0; n < rows.count && rows.width > 0; ++n) {
    const std::span<double> row = rows.row(n);
    double size = norm == "MAX" ? *std::max_element(row.begin(), row.end()) : 0;
    if (norm != "MAX")
      for (const double v : row) size += norm == "L1" ? std::abs(v) : v * v;
    if (norm == "L2") size = std::sqrt(size);
    if (size == 0) continue;
    for (double& v : row) v /= size;
  }
  set_rows(call, 0, rows);
}

void binarizer(Call& call) {
  const Tensor& data = call.in(0);
  const double threshold = call.view.get_float("threshold", 0);
  std::vector<double> values = to_doubles(data);
  for (double& v : values) v = v > threshold ? 1 : 0;
  call.set(0, as(Tensor::of(data.dims(), values), data.dtype()));
}

constexpr Kernel kKernels[] = {
    {kDomain, "LinearRegressor", linear_regressor},
    {kDomain, "LinearClassifier", linear_classifier},
    {kDomain, "Scaler", scaler},
    {kDomain, "Normalizer", normalizer},
    {kDomain, "Binarizer", binarizer},
};

}  // namespace

std::span<const Kernel> ml_linear_kernels() { return kKernels; }

}  // namespace mlopt::reference
