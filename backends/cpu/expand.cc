// Expand and Tile: copies from an input that repeats.
#include "backends/cpu/kernels.h"
#include "backends/cpu/strided.h"
#include "core/tensor/cast.h"

namespace mlopt::cpu {
namespace {

/// A step that copies `from` over the index space `dims`, of an output that lies there as `to` says.
PlannedStep repeated(const TensorDesc& x, TensorDesc out, const Dims& dims, const Dims& from, const Dims& to) {
  const StridedCopy copy(*element_bytes(x.dtype), dims, from, to);
  PlannedStep step{.out = {std::move(out)}};
  step.packed = {1};
  if (copy.is_nothing())
    step.view_of = 0;
  else
    step.run = [copy](const Buffers& b) { copy.run(b.in<std::byte>(0), b.out<std::byte>(0)); };
  return step;
}

Expected<PlannedStep> plan_expand(const Site& site) {
  const TensorDesc& x = site.desc(0);
  const Tensor* shape = site.view.constant(1);
  if (!element_bytes(x.dtype) || !shape) return Decline{"the shape is not constant, or elements of less than a byte"};
  TensorDesc out{x.dtype, broadcast(x.dims, to_ints(*shape)), x.layout};
  if (out.dims.size() != x.dims.size() && out.layout != mlopt::Layout::kRowMajor) return Decline{"axes are added"};
  if (out.size() == 0) return Decline{"an empty output"};
  Dims from(out.dims.size() - x.dims.size(), 0);
  const Dims own = x.strides();
  for (size_t axis = 0; axis < own.size(); ++axis) from.push_back(x.dims[axis] == 1 ? 0 : own[axis]);
  return repeated(x, out, out.dims, from, out.strides());
}

Expected<PlannedStep> plan_tile(const Site& site) {
  const TensorDesc& x = site.desc(0);
  const Tensor* given = site.view.constant(1);
  if (!element_bytes(x.dtype) || !given || site.view.opset() < 6) return Decline{"the repeats are not constant"};
  const std::vector<int64_t> repeats = to_ints(*given);
  if (repeats.size() != x.dims.size()) return Decline{"the repeats do not fit"};
  TensorDesc out = x;
  for (size_t axis = 0; axis < repeats.size(); ++axis) {
    if (repeats[axis] < 1) return Decline{"an empty output"};
    out.dims[axis] = element_count({repeats[axis], x.dims[axis]});
  }
  const Dims own = x.strides(), made = out.strides();
  Dims dims, from, to;
  for (size_t axis = 0; axis < repeats.size(); ++axis) {
    dims.insert(dims.end(), {repeats[axis], x.dims[axis]});
    from.insert(from.end(), {0, own[axis]});
    to.insert(to.end(), {x.dims[axis] * made[axis], made[axis]});
  }
  return repeated(x, out, dims, from, to);
}

constexpr Kernel kKernels[] = {
    {.domain = "", .op = "Expand", .plan = plan_expand, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "Tile", .plan = plan_tile, .layout = LayoutRule::kFollows},
};

}  // namespace

std::span<const Kernel> expand_kernels() { return kKernels; }

}  // namespace mlopt::cpu
