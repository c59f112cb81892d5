#pragma once
#include <cstdint>
#include <optional>

#include "core/tensor/dims.h"

namespace mlopt {

/// Where the elements of each sample lie in a row-major tensor that has those of a batch along one axis, each `size`
/// indices of it: `outer` times, one sample after the other, a run of `length` elements.
struct SampleRuns {
  int64_t outer = 1, samples = 1, length = 0;
};

/// Nothing where the axis has no equal parts for the samples. A negative axis: the tensor is one for the whole batch.
inline std::optional<SampleRuns> sample_runs(const Dims& dims, int64_t axis, int64_t samples) {
  SampleRuns runs;
  if (axis < 0) {
    runs.length = element_count(dims);
    return runs;
  }
  const auto at = static_cast<size_t>(axis);
  if (at >= dims.size() || samples < 1 || dims[at] % samples != 0) return std::nullopt;
  for (size_t k = 0; k < at; ++k) runs.outer *= dims[k];
  runs.samples = samples;
  runs.length = dims[at] / samples;
  for (size_t k = at + 1; k < dims.size(); ++k) runs.length *= dims[k];
  return runs;
}

}  // namespace mlopt
