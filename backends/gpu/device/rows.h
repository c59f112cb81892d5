#pragma once
// Reductions, softmax and normalizations.
#include "backends/gpu/device/launch.h"

namespace mlopt::gpu {

enum class Fold { kSum, kMax, kMin, kProd };
enum class Before { kNothing, kAbs, kSquare, kExp };
enum class After { kNothing, kRoot, kLog };

/// out[o, i] = after(fold of before(in[o, :, i]) / divisor) of [outer, length, inner].
struct ReduceArgs {
  Elem type;
  Fold fold;
  Before before;
  After after;
  float divisor;
  int64_t outer, length, inner;
  const void* in;
  void* out;
};
Status reduce(Queue& queue, const ReduceArgs& args);

/// Softmax or its logarithm along the middle axis.
struct SoftmaxArgs {
  Elem type;
  bool log;
  int64_t outer, length, inner;
  const void* in;
  void* out;
};
Status softmax(Queue& queue, const SoftmaxArgs& args);

/// Each row of `length` numbers (plus `skip` and `skip_bias`, one number for each of the row, where given) without its
/// mean, unless `rms`, over its deviation, times scale and plus bias, which element i of row r finds at
/// r % period * channels + i / inner. `sum` takes what is normalized.
struct NormArgs {
  Elem type;
  bool rms;
  float epsilon;
  int64_t rows, length, period, channels, inner;
  const void *in = nullptr, *skip = nullptr, *skip_bias = nullptr, *scale = nullptr, *bias = nullptr;
  void *out = nullptr, *sum = nullptr;
};
Status norm(Queue& queue, const NormArgs& args);

/// (in - mean) / sqrt(variance + epsilon) * scale + bias of channel i / inner % channels; parameters are float32.
struct ChannelNormArgs {
  Elem type;
  float epsilon;
  int64_t count, channels, inner;
  const void* in;
  const float *scale, *bias, *mean, *variance;
  void* out;
};
Status channel_norm(Queue& queue, const ChannelNormArgs& args);

}  // namespace mlopt::gpu
