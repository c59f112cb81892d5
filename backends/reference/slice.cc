#include "backends/reference/kernels.h"
#include "backends/reference/movement.h"
#include "core/ir/slice_span.h"

namespace mlopt::reference {
namespace {

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
    const SliceSpan span = slice_span(dims[axis], starts[i], ends[i], steps[i]);
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
