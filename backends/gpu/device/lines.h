#pragma once
// What looks at neighbours, at times and at whole matrices.
#include "backends/gpu/device/launch.h"

namespace mlopt::gpu {

/// out = in / (bias + scale * the sum of the squares of `size` neighbours along the middle axis) ^ beta.
struct LocalNormArgs {
  Elem type;
  int64_t outer, length, inner, size;
  float scale, bias, beta;
  const void* in;
  void* out;
};
Status local_norm(Queue& queue, const LocalNormArgs& args);

/// The first lengths[n] elements along time in reverse order, of [time, batch, inner] or [batch, time, inner].
struct ReverseArgs {
  int width;
  bool batch_first, wide;  ///< `wide`: lengths are int64, else int32
  int64_t time, batch, inner;
  const void *in, *lengths;
  void* out;
};
Status reverse(Queue& queue, const ReverseArgs& args);

/// The determinants of `count` matrices of `size` rows; `scratch` has room for all of them in float32.
struct DetArgs {
  Elem type;
  int64_t count, size;
  float* scratch;
  const void* in;
  void* out;
};
Status determinants(Queue& queue, const DetArgs& args);

}  // namespace mlopt::gpu
