#include "core/data/metrics.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/tensor/cast.h"

namespace mlopt {
namespace {

double mean(const Tally& tally) { return tally.weight > 0 ? tally.sum / tally.weight : 0; }

void add_top1(Tally& tally, const Tensor& output, const Tensor& labels, const std::string& where) {
  const std::vector<int64_t> predicted = predicted_classes(output, labels, where), actual = class_labels(labels, where);
  for (size_t i = 0; i < actual.size(); ++i) tally.sum += predicted[i] == actual[i] ? 1 : 0;
  tally.weight += static_cast<double>(actual.size());
}

void add_top5(Tally& tally, const Tensor& output, const Tensor& labels, const std::string& where) {
  const std::vector<int64_t> actual = class_labels(labels, where);
  const ClassScores scores = class_scores(output, labels, where);
  for (int64_t r = 0; r < scores.rows; ++r) {
    const int64_t label = actual[static_cast<size_t>(r)];
    const float mine = scores.score(r, label);
    int64_t better = 0;  // equal scores of earlier classes count as better, as in an arg-max
    for (int64_t c = 0; c < scores.classes; ++c) {
      const float other = scores.score(r, c);
      better += other > mine || (other == mine && c < label) ? 1 : 0;
    }
    tally.sum += better < 5 && !std::isnan(mine) ? 1 : 0;
  }
  tally.weight += static_cast<double>(scores.rows);
}

/// -log p of the label; scores that are shares of 1 are taken as probabilities, others as logits.
double surprise(const ClassScores& scores, int64_t row, int64_t label) {
  double sum = 0, most = -std::numeric_limits<double>::infinity();
  bool probabilities = true;
  for (int64_t c = 0; c < scores.classes; ++c) {
    const double s = static_cast<double>(scores.score(row, c));
    probabilities = probabilities && s >= 0 && s <= 1;
    sum += s;
    most = std::max(most, s);
  }
  const double mine = static_cast<double>(scores.score(row, label));
  if (probabilities && std::abs(sum - 1) < 1e-3) return -std::log(mine);
  double exponentials = 0;
  for (int64_t c = 0; c < scores.classes; ++c)
    exponentials += std::exp(static_cast<double>(scores.score(row, c)) - most);
  return std::log(exponentials) + most - mine;
}

void add_ppl(Tally& tally, const Tensor& output, const Tensor& labels, const std::string& where) {
  const std::vector<int64_t> actual = class_labels(labels, where);
  const ClassScores scores = class_scores(output, labels, where);
  for (int64_t r = 0; r < scores.rows; ++r) {
    const int64_t label = actual[static_cast<size_t>(r)];
    tally.sum += surprise(scores, r, label);
  }
  tally.weight += static_cast<double>(scores.rows);
}

void add_squares(Tally& tally, const Tensor& output, const Tensor& labels, const std::string& where) {
  if (output.size() != labels.size()) {
    input_error(
        fmt::format("the output has the shape {}, the labels {}", to_string(output.dims()), to_string(labels.dims())),
        where, "labels must be arrays of the output's shape");
  }
  const std::vector<double> a = to_doubles(output), e = to_doubles(labels);
  for (size_t i = 0; i < a.size(); ++i) {
    tally.sum += (a[i] - e[i]) * (a[i] - e[i]);
    tally.peak = std::max(tally.peak, e[i]);
  }
  tally.weight += static_cast<double>(a.size());
}

/// Against a peak of 1, or of 255 when a target is above 1. Equal outputs get a number too, which can be compared.
double psnr(const Tally& tally) {
  constexpr double kEqual = 999;
  const double peak = tally.peak > 1 ? 255 : 1;
  return std::min(10 * std::log10(peak * peak / mean(tally)), kEqual);
}

/// A sample counts when all of its elements are equal.
void add_exact(Tally& tally, const Tensor& output, const Tensor& labels, const std::string& where) {
  const int64_t samples = labels.rank() > 0 ? labels.dim(0) : 1;
  if (output.size() != labels.size() || (output.dtype() == DType::kString) != (labels.dtype() == DType::kString)) {
    input_error(fmt::format("the output is {} of shape {}, the labels {} of shape {}", name(output.dtype()),
                            to_string(output.dims()), name(labels.dtype()), to_string(labels.dims())),
                where, "exact compares elements: for class scores use top1");
  }
  const bool texts = output.dtype() == DType::kString;
  const std::vector<double> a = texts ? std::vector<double>() : to_doubles(output);
  const std::vector<double> e = texts ? std::vector<double>() : to_doubles(labels);
  const auto row = static_cast<size_t>(samples > 0 ? labels.size() / samples : 0);
  for (size_t s = 0; s < static_cast<size_t>(samples); ++s) {
    bool equal = true;
    for (size_t i = s * row; i < (s + 1) * row; ++i) {
      equal = equal && (texts ? output.strings()[i] == labels.strings()[i] : a[i] == e[i]);
    }
    tally.sum += equal ? 1 : 0;
  }
  tally.weight += static_cast<double>(samples);
}

void add_f1(Tally& tally, const Tensor& output, const Tensor& labels, const std::string& where) {
  const std::vector<int64_t> predicted = predicted_classes(output, labels, where), actual = class_labels(labels, where);
  for (size_t i = 0; i < actual.size(); ++i) {
    ++tally.actual[actual[i]];
    ++tally.predicted[predicted[i]];
    if (predicted[i] == actual[i]) ++tally.true_positive[actual[i]];
  }
  tally.weight += static_cast<double>(actual.size());
}

/// Of class 1 when the classes are 0 and 1, else the mean over the classes that occur as labels or predictions.
double f1(const Tally& tally) {
  std::map<int64_t, int64_t> total = tally.actual;  // 2 tp + fp + fn = predicted + actual
  for (const auto& [c, count] : tally.predicted) total[c] += count;
  const auto of_class = [&](int64_t c) {
    const auto hits = tally.true_positive.find(c);
    return hits == tally.true_positive.end()
               ? 0.0
               : 2.0 * static_cast<double>(hits->second) / static_cast<double>(total.at(c));
  };
  const bool binary = !total.empty() && total.begin()->first >= 0 && total.rbegin()->first <= 1;
  if (binary) return total.count(1) ? of_class(1) : 0;
  double sum = 0;
  for (const auto& [c, count] : total) sum += of_class(c);
  return total.empty() ? 0 : sum / static_cast<double>(total.size());
}

}  // namespace

std::vector<MetricDef> metrics() {
  return {
      {"top1", "share of labels that are the arg-max", true, true, add_top1, mean},
      {"top5", "share of labels among the five highest scores", true, true, add_top5, mean},
      {"ppl", "perplexity: exp of the mean cross-entropy", false, false, add_ppl,
       [](const Tally& tally) { return std::exp(mean(tally)); }},
      {"mse", "mean squared error", false, false, add_squares, mean},
      {"psnr", "peak signal-to-noise ratio in dB", true, false, add_squares, psnr},
      {"exact", "share of samples that are equal in every element", true, true, add_exact, mean},
      {"f1", "F1 of class 1 of two, else the mean over the classes", true, true, add_f1, f1},
  };
}

MetricDef find_metric(const std::string& name) {
  std::vector<std::string> names;
  for (const MetricDef& metric : metrics()) {
    if (metric.name == name) return metric;
    names.emplace_back(metric.name);
  }
  usage_error(fmt::format("unknown metric '{}'", name), "--metric", suggestion(name, names));
}

void add(Tally& to, const Tally& more) {
  to.sum += more.sum;
  to.weight += more.weight;
  to.peak = std::max(to.peak, more.peak);
  const auto add_counts = [](std::map<int64_t, int64_t>& counts, const std::map<int64_t, int64_t>& others) {
    for (const auto& [label, count] : others) counts[label] += count;
  };
  add_counts(to.true_positive, more.true_positive);
  add_counts(to.predicted, more.predicted);
  add_counts(to.actual, more.actual);
}

}  // namespace mlopt
