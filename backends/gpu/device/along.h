#pragma once
// What runs along an axis, or depends on where an element is.
#include "backends/gpu/device/launch.h"
#include "backends/gpu/device/walk.h"

namespace mlopt::gpu {

/// Running sums, or products, along the middle axis, without (`exclusive`) or with each element, from either end.
struct CumSumArgs {
  Elem type;
  bool exclusive, reverse, multiplies;
  int64_t outer, length, inner;
  const void* in;
  void* out;
};
Status cum_sum(Queue& queue, const CumSumArgs& args);

/// Each line along the middle axis over the sum of its magnitudes, or over its length (`square`); zeros stay.
struct LpNormArgs {
  Elem type;
  bool square;
  int64_t outer, length, inner;
  const void* in;
  void* out;
};
Status lp_norm(Queue& queue, const LpNormArgs& args);

/// Matrices [.., rows, columns] with zeros below the diagonal (`upper`) or above it; the diagonal lies *offset columns
/// to the right, 0 where null.
struct TriangleArgs {
  int width;
  bool upper;
  int64_t count, rows, columns;
  const int64_t* offset;
  const void* in;
  void* out;
};
Status triangle(Queue& queue, const TriangleArgs& args);

enum class Beyond { kEdge, kReflect, kWrap };

/// A tensor continued beyond its ends; `before` elements are in front, negative ones are cut off.
struct ContinueArgs {
  static constexpr int kAxes = 8;
  int width;
  Beyond beyond;
  int rank;
  Divider out_dims[kAxes];  ///< the innermost axis first, like all of these
  int32_t lengths[kAxes], before[kAxes];
  int64_t count;
  const void* in;
  void* out;
};
Status continued(Queue& queue, const ContinueArgs& args);

}  // namespace mlopt::gpu
