#pragma once
// What reads the neighbours of a position: convolutions, pools, resizing.
#include "backends/gpu/device/launch.h"
#include "core/base/activation.h"

namespace mlopt::gpu {

/// A neighbour along an axis, and how much of it.
struct Tap {
  int32_t place;  ///< below 0: outside of the axis
  float weight;
};

/// out[o, i, k] = sum of table[i][t].weight * in[o, table[i][t].place, k] of [outer, length, inner] over `taps`, or
/// `outside` where the first of them is. Where `width` is not 0, elements of so many bytes are moved, by one tap.
struct ResizeArgs {
  Elem type;
  int width, taps;
  int64_t outer, from, to, inner;
  float outside;
  const Tap* table;  ///< the device's
  const void* in;
  void* out;
};
Status resize(Queue& queue, const ResizeArgs& args);

/// Three spatial axes; those that a picture lacks are the first, of length 1.
struct Windows {
  int in[3], out[3], kernel[3], stride[3], dilation[3], before[3];
};

/// out[n, m, ...] = act(sum of in over the window and the group's channels * weights[m, c, ...] + bias[m] + addend).
struct ConvArgs {
  Elem type;
  Activation act;
  int batch, channels_in, channels_out, groups;
  Windows windows;
  const void *in, *weights, *bias, *addend;  ///< the last two may be null
  void* out;
  bool channels_last = false;  ///< in, out and addend [n, ..., c], weights [m, ..., c]; for conv() and libraries
};
Status conv(Queue& queue, const ConvArgs& args);
/// The transposed convolution: `windows` are those of the convolution that makes `in` of `out`; weights[c, m, ...].
Status conv_transpose(Queue& queue, const ConvArgs& args);

enum class PoolKind { kMax, kAverage, kAverageWithPadding, kNorm };
/// Windows over [planes, ..., inner]. kAverageWithPadding divides by the taps on the input and its padding, which ends
/// `after` elements behind it; kNorm is (sum |x|^exponent)^(1 / exponent).
struct PoolArgs {
  Elem type;
  PoolKind kind;
  float exponent;
  int64_t planes;
  int inner = 1;  ///< the channels, where these come last
  Windows windows;
  int after[3];
  const void* in;
  void* out;
  int64_t* places = nullptr;      ///< of the largest, in `in` as a whole; null: not wanted
  bool column_by_column = false;  ///< they count the elements of a plane so
};
Status pool(Queue& queue, const PoolArgs& args);

}  // namespace mlopt::gpu
