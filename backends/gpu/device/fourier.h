#pragma once
#include "backends/gpu/device/launch.h"

namespace mlopt::gpu {

/// Numbers (of one part) or complex ones (two) along the second axis of [outer, in, inner, parts]: out[k] = the sum
/// over j of in[j] * turns[j * k % length], in double; over `length` where inverse. `mirrored`: the input lacks the
/// second half of a spectrum, which is the first one's conjugate, mirrored.
struct DftArgs {
  Elem type;
  bool inverse, mirrored;
  int64_t outer, in_count, out_count, inner, in_parts, out_parts, length;
  const double* turns;  ///< cosine and sine of each part of a turn, in the direction of the transform
  const void* in;
  void* out;
};
Status dft(Queue& queue, const DftArgs& args);

}  // namespace mlopt::gpu
