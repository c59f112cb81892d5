#include <algorithm>

#include "backends/reference/kernels.h"
#include "backends/reference/movement.h"

namespace mlopt::reference {
namespace {

/// Positions first, first + step, ... of one axis.
struct Span {
  int64_t first = 0, count = 0, step = 1;
};

/// Python's rules for start:end:step on an axis of `length`; any int64 is allowed as a limit.
Span slice_axis(int64_t length, int64_t start, int64_t end, int64_t step) {
  const auto place = [&](int64_t index) {
    if (index < 0) index = index < -length ? -1 : index + length;
    return step > 0 ? std::clamp<int64_t>(index, 0, length) : std::clamp<int64_t>(index, -1, length - 1);
  };
  const int64_t first = place(start), last = place(end);
  const int64_t distance = step > 0 ? last - first : first - last;
  if (distance <= 0) return {0, 0, 1};
  const uint64_t stride = step > 0 ? static_cast<uint64_t>(step) : 0 - static_cast<uint64_t>(step);
  const auto count = static_cast<int64_t>((static_cast<uint64_t>(distance) - 1) / stride) + 1;
  return {first, count, count == 1 ? 1 : step};
}

void slice(Call& call) {
  const Tensor& data = call.in(0);
  const std::vector<int64_t> starts = call.ints("starts", 1), ends = call.ints("ends", 2);
  std::vector<int64_t> wanted = call.ints("axes", 3);
  if (wanted.empty())
    for (size_t i = 0; i < starts.size(); ++i) wanted.push_back(static_cast<int64_t>(i));
  const std::vector<int> axes = axes_of(call, wanted, data.rank());
  const std::vector<int64_t> steps = call.ints("steps", 4, std::vector<int64_t>(starts.size(), 1));
  require(call, starts.size() == ends.size() && starts.size() == axes.size() && starts.size() == steps.size(),
          "starts, ends, axes and steps must have the same length");

  Dims dims = data.dims(), strides = row_major_strides(dims);
  int64_t offset = 0;
  for (size_t i = 0; i < axes.size(); ++i) {
    require(call, steps[i] != 0, "a step is 0");
    const auto axis = static_cast<size_t>(axes[i]);
    const Span span = slice_axis(dims[axis], starts[i], ends[i], steps[i]);
    dims[axis] = span.count;
    offset += span.first * strides[axis];
    strides[axis] *= span.step;
  }
  call.set(0, gather_strided(data, dims, strides, offset));
}

constexpr Kernel kKernels[] = {
    {"", "Slice", slice},
    {"", "DynamicSlice", slice},
};

}  // namespace

std::span<const Kernel> slice_kernels() { return kKernels; }

}  // namespace mlopt::reference
