#pragma once
// Reductions, softmax and normalizations.
#include "backends/gpu/device/launch.h"

namespace mlopt::gpu {

/// kMaxNumber and kMinNumber leave NaN out; kLogSumExp, of float numbers, is the logarithm of the sum of exponentials.
enum class Fold { kSum, kMax, kMin, kProd, kMaxNumber, kMinNumber, kLogSumExp };
enum class Before { kNothing, kAbs, kSquare };
enum class After { kNothing, kRoot, kLog };

/// out[o, i] = after(fold of before(in[o, :, i]) / divisor) of [outer, length, inner]. Partial results are of the type
/// that is computed in, float32 where `type` has 16 bits: `in` where it is `from_partial`, `out` where it is
/// `to_partial`.
struct ReduceArgs {
  Elem type;
  Fold fold;
  Before before;
  After after;
  float divisor;
  int64_t outer, length, inner;
  const void* in;
  void* out;
  bool from_partial = false, to_partial = false;
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

/// (in - mean) / sqrt(variance + epsilon) * scale + bias of channel i / inner % channels; parameters are float32, or of
/// `type` where they are narrow.
struct ChannelNormArgs {
  Elem type;
  float epsilon;
  int64_t count, channels, inner;
  const void *in, *scale, *bias, *mean, *variance;
  void* out;
  bool narrow_scale = false;       ///< and bias
  bool narrow_statistics = false;  ///< mean and variance
};
Status channel_norm(Queue& queue, const ChannelNormArgs& args);

}  // namespace mlopt::gpu
