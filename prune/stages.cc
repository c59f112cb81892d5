#include "prune/stages.h"

#include "core/calib/features.h"

namespace mlopt::prune {

std::vector<size_t> stage_ends(std::span<const Weight> weights, int64_t most, int64_t bytes) {
  const auto given = [&](size_t i) { return weights[i].readers[0]->input(data_operand(weights[i])); };
  std::vector<size_t> runs;  // ends of those that read the same value
  for (size_t i = 1; i <= weights.size(); ++i)
    if (i == weights.size() || given(i) != given(i - 1)) runs.push_back(i);
  const auto count = static_cast<int64_t>(runs.size());
  std::vector<size_t> ends;
  size_t first = 0;
  int64_t held = 0;
  for (int64_t k = 0; k < count; ++k) {
    int64_t needed = 0;
    const size_t end = runs[static_cast<size_t>(k)];
    for (size_t i = k == 0 ? 0 : runs[static_cast<size_t>(k - 1)]; i < end; ++i)
      needed += weights[i].groups * weights[i].columns * weights[i].columns * static_cast<int64_t>(sizeof(float));
    const size_t begin = k == 0 ? 0 : runs[static_cast<size_t>(k - 1)];
    if (bytes > 0 && begin > first && held + needed > bytes) {
      ends.push_back(begin);
      first = begin;
      held = 0;
    }
    held += needed;
    const bool last_of_stage = (k + 1) * most / count != k * most / count || most >= count;
    if (!last_of_stage) continue;
    ends.push_back(end);
    first = end;
    held = 0;
  }
  return ends;
}

}  // namespace mlopt::prune
