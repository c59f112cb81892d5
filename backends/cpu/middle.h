#pragma once
#include "core/exec/desc.h"
#include "core/ir/middle.h"

namespace mlopt::cpu {

/// Where an axis of ONNX's order lies in memory.
inline size_t memory_axis(const TensorDesc& desc, size_t axis) {
  if (desc.layout == mlopt::Layout::kRowMajor || axis == 0) return axis;
  return axis == 1 ? desc.dims.size() - 1 : axis - 1;
}

}  // namespace mlopt::cpu
