#pragma once
#include <cstdint>
#include <vector>

#include "core/base/expected.h"
#include "core/ir/view.h"
#include "core/tensor/dims.h"

namespace mlopt {

/// An end from here on is beyond any axis: how exporters say "to the end" of one whose size they do not know.
/// TensorFlow's says a thousand million, others the largest integer.
inline constexpr int64_t kBeyondSizes = 1'000'000'000;

/// The positions first, first + step, ... that Slice takes of an axis; a step of 1 where there is one or none.
struct SliceSpan {
  int64_t first = 0, count = 0, step = 1;
};

/// ONNX's rules for start:end:step on an axis of `length`. Limits count from the end where negative and may be any
/// integer; `step` is not 0. They are Python's, but for a backward slice that starts before the axis: it takes the
/// first element.
SliceSpan slice_span(int64_t length, int64_t start, int64_t end, int64_t step);

/// What a Slice takes of each axis of an input of these dims. Declines parameters that are not constant or do not fit
/// together. Throws Error{kBadInput} for an axis that the input lacks.
Expected<std::vector<SliceSpan>> slice_spans(const NodeView& view, const Dims& dims);

}  // namespace mlopt
