#pragma once
#include "backends/gpu/device/launch.h"

namespace mlopt::gpu {

enum class Sampling { kNearest, kLinear, kCubic };
enum class GridPadding { kZeros, kBorder, kReflection };

/// out[n, c, point] = in [n, c, ...] at the place that grid[n, point, ...] names on each of `axes` spatial axes, the
/// last one first, from -1 to 1.
struct GridSampleArgs {
  static constexpr int kAxes = 3;
  Elem type;  ///< of all
  Sampling mode;
  GridPadding beyond;
  bool align_corners;
  int axes;
  int64_t batch, channels, points;
  int lengths[kAxes];
  const void *in, *grid;
  void* out;
};
Status grid_sample(Queue& queue, const GridSampleArgs& args);

}  // namespace mlopt::gpu
