#include "core/data/metrics.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "core/base/error.h"
#include "core/base/named.h"
#include "core/tensor/cast.h"
#include "core/tensor/compare.h"

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

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Adds -log p of the label, for scores that are logits and for scores that are probabilities: which they are is known
/// when all have been seen.
void add_surprise(Tally& tally, const ClassScores& scores, int64_t row, int64_t label) {
  double sum = 0, most = -kInfinity;
  bool negative = false;
  for (int64_t c = 0; c < scores.classes; ++c) {
    const double s = static_cast<double>(scores.score(row, c));
    negative = negative || !(s >= 0);
    sum += s;
    most = std::max(most, s);
  }
  const double mine = static_cast<double>(scores.score(row, label));
  double exponentials = 0;
  for (int64_t c = 0; c < scores.classes; ++c)
    exponentials += std::exp(static_cast<double>(scores.score(row, c)) - most);
  tally.sum += std::log(exponentials) + most - mine;
  tally.share_sum += mine > 0 ? std::log(sum / mine) : kInfinity;
  tally.share_gap += negative ? kInfinity : std::abs(sum - 1);
}

/// Rounded probabilities sum to a little more or less than 1.
double perplexity(const Tally& tally) {
  constexpr double kRounding = 0.05;
  const bool probabilities = tally.weight > 0 && tally.share_gap / tally.weight < kRounding;
  return std::exp(probabilities ? tally.share_sum / tally.weight : mean(tally));
}

void add_ppl(Tally& tally, const Tensor& output, const Tensor& labels, const std::string& where) {
  const std::vector<int64_t> actual = class_labels(labels, where);
  const ClassScores scores = class_scores(output, labels, where);
  for (int64_t r = 0; r < scores.rows; ++r) {
    add_surprise(tally, scores, r, actual[static_cast<size_t>(r)]);
  }
  tally.weight += static_cast<double>(scores.rows);
}

void check_parts(const Tensor& output, const Tensor& labels, const std::string& where) {
  if (is_complex(output.dtype()) == is_complex(labels.dtype())) return;
  input_error(fmt::format("the output is {}, the labels {}", name(output.dtype()), name(labels.dtype())), where,
              "give complex labels for a complex output, and real ones for a real one");
}

void add_squares(Tally& tally, const Tensor& output, const Tensor& labels, const std::string& where) {
  if (output.size() != labels.size()) {
    input_error(
        fmt::format("the output has the shape {}, the labels {}", to_string(output.dims()), to_string(labels.dims())),
        where, "labels must be arrays of the output's shape");
  }
  check_parts(output, labels, where);
  const std::vector<double> a = real_numbers(output), e = real_numbers(labels);
  for (size_t i = 0; i < a.size(); ++i) {
    tally.sum += (a[i] - e[i]) * (a[i] - e[i]);
    tally.peak = std::max(tally.peak, e[i]);
  }
  tally.weight += static_cast<double>(output.size());
}

/// Against a peak of 1, or of 255 when a target is above 1. Equal outputs get a number too, which can be compared.
double psnr(const Tally& tally) {
  constexpr double kEqual = 999;
  const double peak = tally.peak > 1 ? 255 : 1;
  return std::min(10 * std::log10(peak * peak / mean(tally)), kEqual);
}

/// Which elements are equal: texts and integers as such, all else as doubles.
std::vector<bool> equal_elements(const Tensor& output, const Tensor& labels) {
  std::vector<bool> equal(static_cast<size_t>(output.size()), true);
  const size_t parts = is_complex(output.dtype()) ? 2 : 1;
  const auto compare = [&](const auto& a, const auto& e) {
    for (size_t i = 0; i < a.size(); ++i) {
      if (a[i] != e[i]) equal[i / parts] = false;
    }
  };
  if (output.dtype() == DType::kString) {
    compare(output.strings(), labels.strings());
    return equal;
  }
  compare(real_numbers(output), real_numbers(labels));
  if (is_integer(output.dtype()) && is_integer(labels.dtype())) compare(to_ints(output), to_ints(labels));
  return equal;
}

/// A sample counts when all of its elements are equal.
void add_exact(Tally& tally, const Tensor& output, const Tensor& labels, const std::string& where) {
  const int64_t samples = labels.rank() > 0 ? labels.dim(0) : 1;
  if (output.size() != labels.size() || (output.dtype() == DType::kString) != (labels.dtype() == DType::kString)) {
    input_error(fmt::format("the output is {} of shape {}, the labels {} of shape {}", name(output.dtype()),
                            to_string(output.dims()), name(labels.dtype()), to_string(labels.dims())),
                where, "exact compares elements: for class scores use top1");
  }
  check_parts(output, labels, where);
  const std::vector<bool> equal = equal_elements(output, labels);
  const int64_t row = samples > 0 ? labels.size() / samples : 0;
  for (int64_t s = 0; s < samples; ++s) {
    const auto begin = equal.begin() + s * row;
    tally.sum += std::find(begin, begin + row, false) == begin + row ? 1 : 0;
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
  // A count of nothing tells which class is the last that the output has; integers are classes of a number unknown.
  if (const int64_t scores = labels.size() > 0 ? output.size() / labels.size() : 0; scores > 1)
    tally.predicted[scores - 1] += 0;
  else if (is_float(output.dtype()))
    tally.predicted[1] += 0;
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
  const auto seen = std::count_if(total.begin(), total.end(), [](const auto& each) { return each.second > 0; });
  return seen == 0 ? 0 : sum / static_cast<double>(seen);
}

}  // namespace

std::vector<MetricDef> metrics() {
  return {
      {"top1", "share of labels that are the arg-max", true, true, add_top1, mean},
      {"top5", "share of labels among the five highest scores", true, true, add_top5, mean},
      {"ppl", "perplexity: exp of the mean cross-entropy", false, false, add_ppl, perplexity},
      {"mse", "mean squared error", false, false, add_squares, mean},
      {"psnr", "peak signal-to-noise ratio in dB", true, false, add_squares, psnr},
      {"exact", "share of samples that are equal in every element", true, true, add_exact, mean},
      {"f1", "F1 of class 1 of two, else the mean over the classes", true, true, add_f1, f1},
  };
}

MetricDef find_metric(const std::string& name) {
  const std::vector<MetricDef> all = metrics();
  return require_named(std::span<const MetricDef>(all), name, "metric", "--metric");
}

void add(Tally& to, const Tally& more) {
  to.sum += more.sum;
  to.weight += more.weight;
  to.peak = std::max(to.peak, more.peak);
  to.share_sum += more.share_sum;
  to.share_gap += more.share_gap;
  const auto add_counts = [](std::map<int64_t, int64_t>& counts, const std::map<int64_t, int64_t>& others) {
    for (const auto& [label, count] : others) counts[label] += count;
  };
  add_counts(to.true_positive, more.true_positive);
  add_counts(to.predicted, more.predicted);
  add_counts(to.actual, more.actual);
}

}  // namespace mlopt
