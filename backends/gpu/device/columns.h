#pragma once
// Convolutions as products of matrices: windows laid out as columns, and what follows the products.
#include "backends/gpu/device/walk.h"
#include "backends/gpu/device/windows.h"

namespace mlopt::gpu {

/// out[image, c * taps + tap, position] = what tap of the window at that position reads of channel c of a group, 0
/// beside the picture. Of `conv` its shape alone is read.
struct ColumnsArgs {
  ConvArgs conv;
  int width;  ///< bytes of an element: 2 or 4
  int images, group;
  const void* in;  ///< the first image, with all of its channels
  void* out;
  bool across = false;  ///< out[c * taps + tap, image, position] instead
};
Status columns(Queue& queue, const ColumnsArgs& args);

/// out = act(out + bias[channel] + addend) of [image, channel, position].
struct ConvEndArgs {
  Elem type;
  Activation act;
  Divider channels, positions;
  int64_t count;
  const void *bias, *addend;  ///< may be null
  void* out;
};
Status conv_end(Queue& queue, const ConvEndArgs& args);

/// The same columns of 8-bit codes, turned: out[image, position, c * taps + tap] as signed codes, 128 less than
/// unsigned ones. Rows are `pitch` bytes (a multiple of 4), zeros behind the last window's taps; there are `rows` for
/// each image, zeros behind the last position. Beside the picture is the zero point.
struct CodeColumnsArgs {
  ConvArgs conv;
  bool is_signed;
  int images, group, rows, pitch;
  const void *in, *zero;  ///< `zero` may be null
  void* out;
};
Status code_columns(Queue& queue, const CodeColumnsArgs& args);

}  // namespace mlopt::gpu
