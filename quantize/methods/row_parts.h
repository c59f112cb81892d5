#pragma once
#include <algorithm>
#include <cstdint>

#include "core/base/parallel.h"
#include "quantize/methods.h"

namespace mlopt::quantize {

/// Calls work(first, count) for the rows of a group that reads inputs of its own, some at a time, on all threads.
template <class Work>
void each_rows(const Task& task, int64_t group, const Work& work) {
  constexpr int64_t kRows = 16;
  const int64_t count = task.values.rows / task.groups, first = group * count;
  parallel_for((count + kRows - 1) / kRows, 1, [&](int64_t begin, int64_t end) {
    for (int64_t part = begin; part < end; ++part) work(first + part * kRows, std::min(kRows, count - part * kRows));
  });
}

}  // namespace mlopt::quantize
