#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "backends/reference/compute.h"

namespace mlopt::reference {

/// What ai.onnx.ml's models do with a row of scores at the end.
enum class PostTransform { kNone, kSoftmax, kLogistic, kSoftmaxZero, kProbit };

/// From the attribute post_transform; fails on an unknown name.
PostTransform post_transform_of(const Call& call);
/// Softmax and its variant where a score of 0 stays 0 run over the row, the others over each element.
void transform_scores(std::span<double> row, PostTransform transform);

/// The one score of a classifier of two classes as a row of two: 1 - score and score if it is a probability, else
/// -score and score. Of the transforms only LOGISTIC (of -score and score) and PROBIT apply, as in ONNX Runtime.
void spread_score(std::span<double> row, double score, bool probability, PostTransform transform);

/// The names of a classifier's classes, from the attributes `ints` and `strings`.
struct ClassLabels {
  std::vector<int64_t> ints;
  std::vector<std::string> strings;

  size_t size() const { return strings.empty() ? ints.size() : strings.size(); }
  /// The labels of the classes `picked`.
  Tensor picked(const Call& call, std::span<const int64_t> classes) const;
};
ClassLabels class_labels(const Call& call, std::string_view ints, std::string_view strings);

/// The place of the largest score; the first of equals.
int64_t best_class(std::span<const double> row);

/// A matrix of doubles, row-major.
struct Rows {
  int64_t count = 0, width = 0;
  std::vector<double> values;

  std::span<const double> row(int64_t i) const {
    return std::span(values).subspan(static_cast<size_t>(i * width), static_cast<size_t>(width));
  }
  std::span<double> row(int64_t i) {
    return std::span(values).subspan(static_cast<size_t>(i * width), static_cast<size_t>(width));
  }
};
/// Zeros, after a check that they fit in memory.
Rows make_rows(int64_t count, int64_t width);
/// The input as rows of features; a list is one row.
Rows feature_rows(const Call& call, int input);
/// A regressor's scores transformed row by row. A single score is changed by PROBIT only, as in ONNX Runtime.
void transform_targets(Rows& rows, PostTransform transform);
/// The type of scores in output `i`: float32 unless the graph declares the output as float64.
DType score_type(const Call& call, int i);
/// `rows` as output `i`, in score_type().
void set_rows(Call& call, int i, const Rows& rows);

}  // namespace mlopt::reference
