#pragma once
// What reads pictures at places between their pixels.
#include "backends/gpu/device/launch.h"
#include "backends/gpu/device/windows.h"

namespace mlopt::gpu {

/// Bins of regions of pictures [n, channels, height, width]: out[r, c, y, x] is the mean, or the largest share of a
/// neighbour (`largest`), of the samples of that bin of region r, [x0, y0, x1, y1] times `scale`. A bin has `sampling`
/// by `sampling` samples; 0: as many as it has pixels. Pictures outside of the batch are reported.
struct RoiAlignArgs {
  Elem type;
  bool largest, half_pixel, wide;  ///< `wide`: pictures are named by int64, else int32
  int rows, columns, sampling;
  float scale;
  int64_t pictures, channels, height, width, regions;
  const void *in, *corners, *batch;
  void* out;
};
Status roi_align(Queue& queue, const RoiAlignArgs& args);

/// The largest pixel of each bin of regions [picture, x0, y0, x1, y1] times `scale`, both ends included; 0 where there
/// is none.
struct RoiPoolArgs {
  Elem type;
  int rows, columns;
  float scale;
  int64_t pictures, channels, height, width, regions;
  const void *in, *corners;
  void* out;
};
Status roi_pool(Queue& queue, const RoiPoolArgs& args);

/// Columns of a deformed convolution, as ColumnsArgs has them, over two spatial axes: each tap reads where `offsets`
/// [image, offset_groups * taps * 2, position] say, y before x, times `mask` [image, offset_groups * taps, position].
struct DeformedColumnsArgs {
  ConvArgs conv;
  int images, group, offset_groups;
  const void *in, *offsets, *mask;  ///< of the first image; `mask` may be null
  void* out;
};
Status deformed_columns(Queue& queue, const DeformedColumnsArgs& args);

}  // namespace mlopt::gpu
