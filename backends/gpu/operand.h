#pragma once
#include <array>
#include <span>

#include "backends/gpu/device_memory.h"
#include "core/exec/kernel.h"
#include "core/ir/middle.h"

namespace mlopt::gpu {

/// The device's name of a type; declines types that it has no kernels for.
Expected<Elem> elem_of(DType type);
/// The same for float32, float16 and bfloat16 alone.
Expected<Elem> float_of(DType type);
/// Floats of 8 bits that kernels know: FLOAT8E4M3FN and FLOAT8E5M2; declines others.
Expected<Float8> float8_of(DType type);
/// Bytes of an element that can be moved by itself; declines others.
Expected<int> width_of(DType type);

/// What "Add", "Mul", ... compute; for operators of arith.cc alone.
Arith arith_named(std::string_view op);

/// `bytes` rounded up to what places in device memory are aligned to.
inline size_t device_aligned(size_t bytes) { return (bytes + 255) / 256 * 256; }

/// Whether kernels can count its elements.
bool is_countable(const TensorDesc& desc);

/// The strides of an operand of these dims that broadcasts to `out`, one for each axis of `out`. Throws
/// Error{kBadInput} where it does not.
Dims broadcast_strides(const Dims& dims, const Dims& out);

/// The same for an operand whose channels may come last.
Dims broadcast_strides(const TensorDesc& desc, const Dims& out);
/// One entry for each axis, in the order in which the axes lie in memory.
Dims in_memory_order(Dims axes, Layout layout);

/// Copies a tensor from one layout to another.
PlannedStep plan_reorder(const TensorDesc& from, const TensorDesc& to, const CompileContext& context);

/// An axis of an index space, and how far a step along it leads in each tensor.
struct WalkAxis {
  int64_t count;
  std::vector<int64_t> strides;
};
/// The axes of `dims`, innermost first; those that all tensors step through alike are merged. Declines more than
/// `most`, and more elements than kernels count.
Expected<std::vector<WalkAxis>> walk_axes(const Dims& dims, std::span<const Dims> strides, size_t most);

/// The index space `dims` and the strides of each tensor, one for each axis.
template <size_t kTensors>
Expected<Walk<static_cast<int>(kTensors)>> walk_over(const Dims& dims, const std::array<Dims, kTensors>& strides) {
  Walk<static_cast<int>(kTensors)> walk;
  const auto axes = walk_axes(dims, strides, walk.kAxes);
  if (!axes) return axes.error();
  walk.count = 1;
  for (const WalkAxis& axis : *axes) {
    walk.dims[walk.rank] = Divider(axis.count);
    for (size_t t = 0; t < kTensors; ++t) walk.strides[walk.rank][t] = static_cast<int32_t>(axis.strides[t]);
    walk.count *= axis.count;
    ++walk.rank;
  }
  return walk;
}

}  // namespace mlopt::gpu
