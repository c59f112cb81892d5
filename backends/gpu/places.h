#pragma once
#include "backends/gpu/operand.h"

namespace mlopt::gpu {

/// Whether indices are int64; declines all but int64 and int32.
Expected<bool> has_wide_places(const TensorDesc& places);
/// Whether no axis but `axis` has more indices than x has elements.
bool fit_beside(const Dims& places, const Dims& x, size_t axis);

/// Indices [..., rank] into x behind its `batch` first axes, which they share.
struct TuplesInto {
  Tuples tuples;
  Dims rest;  ///< of what a tuple names
};
Expected<TuplesInto> tuples_of(const TensorDesc& x, const TensorDesc& places, int64_t batch);

}  // namespace mlopt::gpu
