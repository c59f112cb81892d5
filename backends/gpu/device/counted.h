#pragma once
// Results of which there are as many as the data say: room for as many as there can be, and how many there are.
#include "backends/gpu/device/launch.h"
#include "backends/gpu/device/walk.h"

namespace mlopt::gpu {

/// The places of the elements that are not zero, in order: out [rank, count], of which the first *found of each row are
/// filled. `before` has room for one number for each chunk of elements, and one more.
struct NonZeroArgs {
  static constexpr int64_t kChunk = 2048;
  Elem type;
  int64_t count;
  int rank;
  Divider dims[8];  ///< the innermost axis first
  int64_t* before;
  const void* in;
  int64_t *out, *found;
};
Status non_zero(Queue& queue, const NonZeroArgs& args);

/// Of boxes [batch, boxes, 4] with scores [batch, classes, boxes] the best ones of each class, those left out that
/// share more than *overlap of their union with a better one, or whose score is not above *score (null: all are). Boxes
/// are two corners, y before x, or centres and sizes (`centers`), x before y. out [batch * classes * most, 3] holds
/// batch, class and box of the first *found; `left` has room for batch * classes * boxes flags, `kept` for batch *
/// classes * most numbers, `counts` for batch * classes and one more.
struct SuppressionArgs {
  Elem type;
  bool centers;
  int64_t batch, classes, boxes, most;
  const void *corners, *scores;
  const float *overlap, *score;  ///< overlap: null is 0
  uint8_t* left;
  int64_t *kept, *counts, *out, *found;
};
Status suppress(Queue& queue, const SuppressionArgs& args);

/// Groups of equal slices of [outer, length, inner] along the middle axis, in the order of what they hold (`sorted`),
/// or of their first slices: those (`first`), the group of each slice, and how many slices the groups have; the first
/// *found of each. `members` has room for length numbers. Every slice is compared with all others.
struct UniqueArgs {
  Elem type;
  bool sorted;
  int64_t outer, length, inner;
  const void* in;
  int64_t *members, *first, *group, *sizes, *found;
};
Status unique(Queue& queue, const UniqueArgs& args);

}  // namespace mlopt::gpu
