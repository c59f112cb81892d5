#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/tensor/tensor.h"

namespace mlopt {

/// Sums over the samples seen so far.
struct Tally {
  double sum = 0;        ///< of what the metric counts
  double weight = 0;     ///< how many it could be
  double peak = 0;       ///< psnr: the largest target
  double share_sum = 0;  ///< ppl: what `sum` is if all scores are probabilities
  double share_gap = 0;  ///< ppl: how far the sums of the scores are from 1; infinite when one is negative
  std::map<int64_t, int64_t> true_positive, predicted, actual;  ///< f1: by class, 0 where it is only known
};

/// Sums over the samples that either has seen.
void add(Tally& to, const Tally& more);

/// A score of outputs against labels.
struct MetricDef {
  std::string_view name;
  std::string_view doc;
  bool higher_is_better;
  bool share;  ///< from 0 to 1, shown in percent
  void (*add)(Tally&, const Tensor& output, const Tensor& labels, const std::string& where);
  double (*value)(const Tally&);
};

/// All metrics, in the order of the documentation.
std::vector<MetricDef> metrics();
/// Throws Error{kUsage} with a suggestion.
MetricDef find_metric(const std::string& name);

/// Class scores seen as rows: score(r, c) of class c for label r.
struct ClassScores {
  std::vector<float> values;
  int64_t rows = 0, classes = 0, inner = 1;  ///< values are [rows / inner, classes, inner]

  float score(int64_t row, int64_t c) const {
    return values[static_cast<size_t>((row / inner * classes + c) * inner + row % inner)];
  }
};

/// Finds the class axis: the last of [N, L, C] against labels [N, L], the second of [N, C, H, W] against [N, H, W],
/// with dimensions of 1 ignored. Throws Error{kBadInput} with both shapes, or for a label beyond the classes.
ClassScores class_scores(const Tensor& output, const Tensor& labels, const std::string& where);
/// The predicted class of each label: the arg-max (the first of equal ones; -1 when all are NaN), the output itself
/// where it holds integers, or whether a single score is above 0.5.
std::vector<int64_t> predicted_classes(const Tensor& output, const Tensor& labels, const std::string& where);
/// The labels as classes; throws unless they are integers of 0 and more.
std::vector<int64_t> class_labels(const Tensor& labels, const std::string& where);

}  // namespace mlopt
