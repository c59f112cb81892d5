#pragma once
// What is read from or written to places that other tensors name. Places are int64 where `wide`, else int32; negative
// ones count from the end; those outside are reported, and give zeros, or are not written.
#include "backends/gpu/device/launch.h"
#include "backends/gpu/device/walk.h"

namespace mlopt::gpu {

/// Place i along an axis of `length` elements; -1: outside.
MLOPT_DEVICE int64_t place_at(bool wide, const void* places, int64_t i, int64_t length) {
  int64_t place = wide ? static_cast<const int64_t*>(places)[i] : static_cast<const int32_t*>(places)[i];
  if (place < 0) place += length;
  return place >= 0 && place < length ? place : -1;
}

/// out[i] = in[walk 0 + place i along an axis of `length` elements that lie `stride` apart].
struct GatherElementsArgs {
  int width;
  bool wide;
  Walk<1> walk;
  int64_t length, stride;
  const void *in, *places;
  void* out;
};
Status gather_elements(Queue& queue, const GatherElementsArgs& args);

/// Tuples of places: tuple i of batch i / each begins at i * rank.
struct Tuples {
  static constexpr int kAxes = 8;
  bool wide;
  int rank;
  int64_t lengths[kAxes], strides[kAxes];
  int64_t count, each, batch_stride;
  const void* places;
};

/// out[i, k] = in[tuple i + k] for k below `inner`.
struct GatherTuplesArgs {
  int width;
  Tuples tuples;
  int64_t inner;
  const void* in;
  void* out;
};
Status gather_tuples(Queue& queue, const GatherTuplesArgs& args);

/// What becomes of an element that another is written to.
enum class Merge { kReplace, kAdd, kMul, kMin, kMax };

/// Updates [outer, count, inner], of which those with the same o and k are written in order to out [.., length, ..]:
/// update (o, i, k) goes to walk 0 of (o, k) + place * stride.
struct ScatterElementsArgs {
  Elem type;  ///< where they are merged
  int width;
  Merge merge;
  bool wide;
  Walk<2> walk;  ///< over (o, k): in out, and in the updates and places
  int64_t count, update_stride, length, stride;
  const void *places, *updates;
  void* out;
};
Status scatter_elements(Queue& queue, const ScatterElementsArgs& args);

/// out[tuple i + k] = updates[i, k], in the order of i. `offsets` has room for tuples.count numbers.
struct ScatterTuplesArgs {
  Elem type;
  int width;
  Merge merge;
  Tuples tuples;
  int64_t inner;
  int64_t* offsets;
  const void* updates;
  void* out;
};
Status scatter_tuples(Queue& queue, const ScatterTuplesArgs& args);

/// out[walk 0 of places[i]] = in[i]; places are int64, those beyond the walk are reported. Of those with one place,
/// any.
struct UnpoolArgs {
  int width;
  Walk<1> walk;
  int64_t count;
  const int64_t* places;
  const void* in;
  void* out;
};
Status unpool(Queue& queue, const UnpoolArgs& args);

/// Rows `first`[b] .. of [batch, middle, length, inner] are replaced by those of [batch, middle, count, inner], from
/// the first row on again where they go beyond the last (`circular`), else those are reported.
struct WriteRowsArgs {
  int width;
  bool circular, wide;  ///< `wide`: first rows are int64, else int32
  int64_t batch, middle, length, count, inner;
  const void *first, *in;  ///< `first` may be null: 0
  void* out;
};
Status write_rows(Queue& queue, const WriteRowsArgs& args);

/// out[o, d, i] = places[o, i] is d ? values[1] : values[0].
struct OneHotArgs {
  int width;
  bool wide;
  int64_t outer, depth, inner;
  const void *places, *values;
  uint64_t bits[2];  ///< of the values where those are null
  void* out;
};
Status one_hot(Queue& queue, const OneHotArgs& args);

/// Along the middle axis of [outer, length, inner] the `count` largest (or smallest) numbers and their places, the
/// first one first; equal ones in the order of their places, or of the last places first. NaN is the first of all, or
/// the last, but at place 0 the first if it `leads`.
struct TopArgs {
  Elem type;
  bool largest, nan_first, last;
  int64_t outer, length, inner, count;
  const void* in;
  void* values;     ///< may be null
  int64_t* places;  ///< [outer, count, inner]
  bool leads;
};
Status top(Queue& queue, const TopArgs& args);

}  // namespace mlopt::gpu
