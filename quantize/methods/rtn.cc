#include <algorithm>
#include <vector>

#include "core/base/parallel.h"
#include "quantize/methods.h"

namespace mlopt::quantize {
namespace {

/// How much the squared error of each column counts in a row: what the column is multiplied by, squared; empty where
/// nothing was seen.
std::vector<float> importance_of(const Task& task, int64_t row) {
  if (!task.seen || task.seen->rows == 0) return {};
  const int64_t columns = task.values.columns, group = row / (task.values.rows / task.groups);
  const auto first = task.seen->squares.begin() + group * columns;
  return {first, first + columns};
}

Coded whole_tensor(const Task& task, Fit fit) {
  Coded coded(task.scheme, task.values.rows, task.values.columns);
  std::vector<float> importance;
  for (int64_t r = 0; r < task.values.rows; ++r) {
    const std::vector<float> row = importance_of(task, r);
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
  parallel_for(task.values.rows, 1, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const std::vector<float> importance = importance_of(task, r);
      for (int64_t c = 0; c < columns; c += coded.group) {
        const auto first = static_cast<size_t>(c), count = static_cast<size_t>(std::min(coded.group, columns - c));
        const std::span<const float> values = task.values.row(r).subspan(first, count);
        const std::span<const float> weights =
            importance.empty() ? std::span<const float>() : std::span(importance).subspan(first, count);
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
