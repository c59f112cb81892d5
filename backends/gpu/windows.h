#pragma once
#include "backends/gpu/device/kernels.h"
#include "core/ir/window.h"

namespace mlopt::gpu {

/// The window over [N, C, ...] of these dims, which makes `out`, as kernels see it: the axes that it lacks come first.
Windows windows_of(const Window& window, const Dims& in, const Dims& out);

}  // namespace mlopt::gpu
