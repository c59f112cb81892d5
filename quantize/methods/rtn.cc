#include <algorithm>
#include <vector>

#include "core/base/parallel.h"
#include "quantize/methods.h"

namespace mlopt::quantize {
namespace {

/// How much the squared error of each column counts in the rows of each group of the task, where `width` columns are
/// fitted together: what the column is multiplied by, squared. Empty where nothing was seen.
std::vector<float> importance_of(const Task& task, int64_t width) {
  if (!task.seen || task.seen->rows == 0) return {};
  const auto columns = static_cast<size_t>(task.values.columns), all = columns * static_cast<size_t>(task.groups);
  std::vector<float> counts;
  for (size_t first = 0; first < all;) {
    const size_t count = task.scheme.per_tensor ? all : std::min(columns - first % columns, static_cast<size_t>(width));
    const std::vector<float> part = importance(std::span(task.seen->squares).subspan(first, count));
    counts.insert(counts.end(), part.begin(), part.end());
    first += count;
  }
  return counts;
}

/// Of the columns of a row, from what importance_of() gives.
std::span<const float> row_of(const std::vector<float>& importance, const Task& task, int64_t row) {
  if (importance.empty()) return {};
  const int64_t group = row / (task.values.rows / task.groups);
  return std::span(importance)
      .subspan(static_cast<size_t>(group * task.values.columns), static_cast<size_t>(task.values.columns));
}

Coded whole_tensor(const Task& task, Fit fit) {
  Coded coded(task.scheme, task.values.rows, task.values.columns);
  const std::vector<float> counts = importance_of(task, coded.group);
  std::vector<float> importance;
  for (int64_t r = 0; r < task.values.rows; ++r) {
    const std::span<const float> row = row_of(counts, task, r);
    importance.insert(importance.end(), row.begin(), row.end());
  }
  const Alphabet alphabet = fit({task.scheme, task.values.values, importance, coded.codebook(0), task.shift()});
  coded.set_alphabet(0, alphabet);
  alphabet.nearest(task.values.values, coded.codes.data());
  return coded;
}

Coded in_given_steps(const Task& task) {
  Coded coded(task.scheme, task.values.rows, task.values.columns);
  for (int64_t r = 0; r < task.values.rows; ++r) {
    const Alphabet alphabet = task.alphabet_of(r);
    coded.set_alphabet(coded.alphabet_at(r, 0), alphabet);
    alphabet.nearest(task.values.row(r), coded.codes.data() + r * task.values.columns);
  }
  return coded;
}

}  // namespace

Coded round_to_nearest(const Task& task, Fit fit) {
  if (!task.steps.empty()) return in_given_steps(task);
  if (task.scheme.per_tensor) return whole_tensor(task, fit);
  const int64_t columns = task.values.columns;
  Coded coded(task.scheme, task.values.rows, columns);
  const std::vector<float> counts = importance_of(task, coded.group);
  parallel_for(task.values.rows, 1, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const std::span<const float> importance = row_of(counts, task, r);
      for (int64_t c = 0; c < columns; c += coded.group) {
        const auto first = static_cast<size_t>(c), count = static_cast<size_t>(std::min(coded.group, columns - c));
        const std::span<const float> values = task.values.row(r).subspan(first, count);
        const std::span<const float> weights = importance.empty() ? importance : importance.subspan(first, count);
        const size_t index = coded.alphabet_at(r, c);
        const Alphabet alphabet = fit({task.scheme, values, weights, coded.codebook(index), task.shift()});
        coded.set_alphabet(index, alphabet);
        alphabet.nearest(values, coded.codes.data() + r * columns + c);
      }
    }
  });
  return coded;
}

}  // namespace mlopt::quantize
