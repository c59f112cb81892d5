#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "backends/reference/kernels.h"
#include "backends/reference/ml_scores.h"

namespace mlopt::reference {
namespace {

constexpr std::string_view kDomain = "ai.onnx.ml";

using Row = std::span<const double>;

/// The similarity of two vectors of features.
struct SvmKernel {
  enum class Kind { kLinear, kPoly, kRbf, kSigmoid } kind = Kind::kLinear;
  double gamma = 0, offset = 0, degree = 0;

  double operator()(Row a, Row b) const {
    double dot = 0, distance = 0;
    for (size_t i = 0; i < a.size(); ++i) {
      dot += a[i] * b[i];
      distance += (a[i] - b[i]) * (a[i] - b[i]);
    }
    switch (kind) {
      case Kind::kPoly:
        return std::pow(gamma * dot + offset, degree);
      case Kind::kRbf:
        return std::exp(-gamma * distance);
      case Kind::kSigmoid:
        return std::tanh(gamma * dot + offset);
      case Kind::kLinear:
        break;
    }
    return dot;
  }
};

std::vector<double> numbers(const Call& call, std::string_view attr) {
  const std::vector<float> values = call.view.get_floats(attr);
  return {values.begin(), values.end()};
}

SvmKernel kernel_of(const Call& call) {
  SvmKernel kernel;
  const std::string kind = call.view.get_string("kernel_type", "LINEAR");
  if (kind == "POLY")
    kernel.kind = SvmKernel::Kind::kPoly;
  else if (kind == "RBF")
    kernel.kind = SvmKernel::Kind::kRbf;
  else if (kind == "SIGMOID")
    kernel.kind = SvmKernel::Kind::kSigmoid;
  else if (kind != "LINEAR")
    fail(call, fmt::format("kernel_type '{}' is unknown", kind));
  const std::vector<double> params = numbers(call, "kernel_params");
  require(call, params.empty() || params.size() == 3, "kernel_params must be three numbers");
  if (!params.empty()) {
    kernel.gamma = params[0];
    kernel.offset = params[1];
    kernel.degree = params[2];
  }
  return kernel;
}

/// Support vectors, each as wide as the features.
Rows support_vectors(const Call& call, int64_t count, int64_t width) {
  Rows vectors{count, width, numbers(call, "support_vectors")};
  if (static_cast<int64_t>(vectors.values.size()) != element_count({count, width}))
    fail(call, fmt::format("{} numbers are given for {} support vectors of {} features", vectors.values.size(), count,
                           width));
  return vectors;
}

void svm_regressor(Call& call) {
  const Rows x = feature_rows(call, 0);
  const int64_t supports = call.view.get_int("n_supports", 0);
  const std::vector<double> coefficients = numbers(call, "coefficients"), rho = numbers(call, "rho");
  require(call, rho.size() == 1, "rho must be one number");
  const bool linear = supports <= 0;
  require(call, static_cast<int64_t>(coefficients.size()) == (linear ? x.width : supports),
          "there are too few or too many coefficients");
  const SvmKernel kernel = linear ? SvmKernel{} : kernel_of(call);
  const Rows vectors = linear ? Rows{} : support_vectors(call, supports, x.width);
  const bool one_class = call.view.get_int("one_class", 0) != 0;
  Rows out = make_rows(x.count, 1);
  for (int64_t n = 0; n < x.count; ++n) {
    double sum = rho[0];
    if (linear) sum += kernel(x.row(n), coefficients);
    for (int64_t s = 0; s < vectors.count; ++s)
      sum += coefficients[static_cast<size_t>(s)] * kernel(x.row(n), vectors.row(s));
    out.row(n)[0] = one_class ? (sum > 0 ? 1 : -1) : sum;
  }
  transform_targets(out, post_transform_of(call));
  set_rows(call, 0, out);
}

/// A classifier of `classes` by every pair of them, or by one plane for each (no support vectors).
struct Classifier {
  size_t classes;
  SvmKernel kernel;
  Rows vectors;
  std::vector<int64_t> begins, counts;  ///< each class's support vectors
  std::vector<double> coefficients, rho, prob_a, prob_b;
  ClassLabels labels;

  bool by_pairs() const { return vectors.count > 0; }
  size_t pairs() const { return classes * (classes - 1) / 2; }
};

Classifier read_classifier(const Call& call, int64_t width) {
  Classifier c;
  c.labels = class_labels(call, "classlabels_ints", "classlabels_strings");
  c.classes = std::max<size_t>(1, c.labels.size());
  c.coefficients = numbers(call, "coefficients");
  c.rho = numbers(call, "rho");
  c.prob_a = numbers(call, "prob_a");
  c.prob_b = numbers(call, "prob_b");
  c.counts = call.view.get_ints("vectors_per_class");
  int64_t total = 0;
  for (const int64_t count : c.counts) {
    require(call, count >= 0 && count < (1 << 30), "vectors_per_class is impossible");
    c.begins.push_back(total);
    total += count;
  }
  if (total == 0) {
    require(call,
            !c.rho.empty() &&
                static_cast<int64_t>(c.coefficients.size()) == element_count({static_cast<int64_t>(c.classes), width}),
            "there are too few or too many coefficients");
    return c;
  }
  c.kernel = kernel_of(call);
  c.vectors = support_vectors(call, total, width);
  require(call, c.counts.size() == c.classes && c.classes >= 2,
          "vectors_per_class must have one number for each class");
  require(call, c.coefficients.size() == (c.classes - 1) * static_cast<size_t>(total) && c.rho.size() >= c.pairs(),
          "there are too few or too many coefficients");
  require(call, c.prob_a.empty() || (c.prob_a.size() >= c.pairs() && c.prob_b.size() >= c.pairs()),
          "prob_a and prob_b are too short");
  return c;
}

/// One score for each pair of classes, and how many pairs each class wins.
std::pair<std::vector<double>, std::vector<double>> pair_scores(const Classifier& c, Row x) {
  std::vector<double> near(static_cast<size_t>(c.vectors.count)), scores, votes(c.classes, 0);
  for (int64_t s = 0; s < c.vectors.count; ++s) near[static_cast<size_t>(s)] = c.kernel(x, c.vectors.row(s));
  const auto part = [&](size_t row, size_t of) {
    double sum = 0;
    const auto begin = static_cast<size_t>(c.begins[of]), count = static_cast<size_t>(c.counts[of]);
    for (size_t k = begin; k < begin + count; ++k) sum += c.coefficients[row * near.size() + k] * near[k];
    return sum;
  };
  for (size_t i = 0; i < c.classes; ++i)
    for (size_t j = i + 1; j < c.classes; ++j) {
      scores.push_back(c.rho[scores.size()] + part(j - 1, i) + part(i, j));
      votes[scores.back() > 0 ? i : j] += 1;
    }
  return {std::move(scores), std::move(votes)};
}

/// Couples the probabilities of pairs into one of each class (Wu, Lin and Weng 2004, second method).
std::vector<double> coupled(const std::vector<std::vector<double>>& r) {
  const size_t k = r.size();
  std::vector<std::vector<double>> q(k, std::vector<double>(k, 0));
  for (size_t t = 0; t < k; ++t)
    for (size_t j = 0; j < k; ++j) {
      if (j == t) continue;
      q[t][t] += r[j][t] * r[j][t];
      q[t][j] = -r[j][t] * r[t][j];
    }
  std::vector<double> p(k, 1.0 / static_cast<double>(k)), qp(k);
  for (size_t iteration = 0; iteration < std::max<size_t>(100, k); ++iteration) {
    double pqp = 0, error = 0;
    for (size_t t = 0; t < k; ++t) {
      qp[t] = 0;
      for (size_t j = 0; j < k; ++j) qp[t] += q[t][j] * p[j];
      pqp += p[t] * qp[t];
    }
    for (size_t t = 0; t < k; ++t) error = std::max(error, std::abs(qp[t] - pqp));
    if (error < 0.005 / static_cast<double>(k)) break;
    for (size_t t = 0; t < k; ++t) {
      const double step = (pqp - qp[t]) / q[t][t];
      p[t] += step;
      pqp = (pqp + step * (step * q[t][t] + 2 * qp[t])) / ((1 + step) * (1 + step));
      for (size_t j = 0; j < k; ++j) {
        qp[j] = (qp[j] + step * q[t][j]) / (1 + step);
        p[j] /= 1 + step;
      }
    }
  }
  return p;
}

std::vector<double> probabilities(const Classifier& c, const std::vector<double>& scores) {
  std::vector<std::vector<double>> r(c.classes, std::vector<double>(c.classes, 0));
  size_t pair = 0;
  for (size_t i = 0; i < c.classes; ++i)
    for (size_t j = i + 1; j < c.classes; ++j, ++pair) {
      double wins = -(scores[pair] * c.prob_a[pair] + c.prob_b[pair]);
      transform_scores({&wins, 1}, PostTransform::kLogistic);
      r[i][j] = std::clamp(wins, 1e-7, 1 - 1e-7);
      r[j][i] = 1 - r[i][j];
    }
  return coupled(r);
}

/// The scores of one row as they are put out, before the transform, and the class.
std::pair<std::vector<double>, int64_t> classify(const Classifier& c, Row x) {
  if (!c.by_pairs()) {
    std::vector<double> scores;
    const auto width = x.size();
    for (size_t k = 0; k < c.classes; ++k)
      scores.push_back(c.rho[0] + SvmKernel{}(x, Row(c.coefficients).subspan(k * width, width)));
    const int64_t best = c.classes == 1 ? scores[0] > 0 : best_class(scores);
    return {std::move(scores), best};
  }
  auto [scores, votes] = pair_scores(c, x);
  const int64_t best = best_class(votes);
  if (!c.prob_a.empty()) scores = probabilities(c, scores);
  return {std::move(scores), best};
}

void svm_classifier(Call& call) {
  const Rows x = feature_rows(call, 0);
  const Classifier c = read_classifier(call, x.width);
  const PostTransform transform = post_transform_of(call);
  const bool two_from_one = c.by_pairs() && c.prob_a.empty() && c.classes == 2;
  const auto width = static_cast<int64_t>(!c.by_pairs() || !c.prob_a.empty() || two_from_one ? c.classes : c.pairs());
  Rows out = make_rows(x.count, width);
  std::vector<int64_t> best;
  for (int64_t n = 0; n < x.count; ++n) {
    auto [scores, picked] = classify(c, x.row(n));
    if (two_from_one) scores = {-scores[0], scores[0]};
    std::copy(scores.begin(), scores.end(), out.row(n).begin());
    transform_scores(out.row(n), transform);
    best.push_back(picked);
  }
  call.set(0, (c.labels.size() > 1 ? c.labels : ClassLabels{}).picked(call, best));
  set_rows(call, 1, out);
}

constexpr Kernel kKernels[] = {
    {kDomain, "SVMRegressor", svm_regressor},
    {kDomain, "SVMClassifier", svm_classifier},
};

}  // namespace

std::span<const Kernel> ml_svm_kernels() { return kKernels; }

}  // namespace mlopt::reference
