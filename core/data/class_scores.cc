#include <fmt/core.h>

#include <cmath>

#include "core/base/error.h"
#include "core/data/metrics.h"
#include "core/tensor/cast.h"

namespace mlopt {
namespace {

Dims without_ones(const Dims& dims) {
  Dims kept;
  for (const int64_t d : dims) {
    if (d != 1) kept.push_back(d);
  }
  return kept;
}

/// Product of dims[from ..].
int64_t tail_size(const Dims& dims, size_t from) {
  int64_t size = 1;
  for (size_t d = from; d < dims.size(); ++d) size *= dims[d];
  return size;
}

void check_classes(const Tensor& labels, int64_t classes, const std::string& where) {
  for (const int64_t label : class_labels(labels, where)) {
    if (label < classes) continue;
    input_error(fmt::format("the label {} is beyond the {} classes of the output", label, classes), where,
                "give labels that number the model's classes from 0");
  }
}

}  // namespace

ClassScores class_scores(const Tensor& output, const Tensor& labels, const std::string& where) {
  if (is_complex(output.dtype())) {
    input_error(fmt::format("the output is {}: no scores of classes", name(output.dtype())), where,
                "choose another output with --output, or another metric");
  }
  const Dims& dims = output.dims();
  const Dims wanted = without_ones(labels.dims());
  // The last axis first: it is the usual one, and right too where both would do.
  for (const size_t axis : {dims.size() - 1, size_t{1}}) {
    if (dims.empty() || axis >= dims.size()) continue;
    Dims rest = dims;
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(axis));
    if (without_ones(rest) != wanted) continue;
    check_classes(labels, dims[axis], where);
    return {
        .values = to_floats(output), .rows = labels.size(), .classes = dims[axis], .inner = tail_size(dims, axis + 1)};
  }
  input_error(fmt::format("the output has the shape {}, the labels {}: no axis of classes", to_string(dims),
                          to_string(labels.dims())),
              where, "choose another output with --output, or another metric");
}

std::vector<int64_t> predicted_classes(const Tensor& output, const Tensor& labels, const std::string& where) {
  if (is_integer(output.dtype()) && output.size() == labels.size()) return to_ints(output);
  std::vector<int64_t> predicted(static_cast<size_t>(labels.size()));
  if (is_float(output.dtype()) && output.size() == labels.size()) {
    const std::vector<float> scores = to_floats(output);
    for (size_t i = 0; i < predicted.size(); ++i) predicted[i] = scores[i] > 0.5F ? 1 : 0;
    return predicted;
  }
  const ClassScores scores = class_scores(output, labels, where);
  for (int64_t r = 0; r < scores.rows; ++r) {
    int64_t best = -1;
    for (int64_t c = 0; c < scores.classes; ++c) {
      const float score = scores.score(r, c);
      if (!std::isnan(score) && (best < 0 || score > scores.score(r, best))) best = c;
    }
    predicted[static_cast<size_t>(r)] = best;
  }
  return predicted;
}

std::vector<int64_t> class_labels(const Tensor& labels, const std::string& where) {
  if (!is_integer(labels.dtype()) && labels.dtype() != DType::kBool) {
    input_error(fmt::format("the labels are {}, not classes", name(labels.dtype())), where, "use mse, psnr or exact");
  }
  std::vector<int64_t> classes = to_ints(labels);
  for (const int64_t c : classes) {
    if (c < 0) input_error(fmt::format("the label {} is negative", c), where, "classes count from 0");
  }
  return classes;
}

}  // namespace mlopt
