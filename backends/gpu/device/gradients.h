#pragma once
// What only training computes: gradients, and normalization by a batch's own statistics.
#include "backends/gpu/device/columns.h"
#include "backends/gpu/device/launch.h"

namespace mlopt::gpu {

/// Derivatives of functions of one number, of which those of Relu, Sigmoid and Tanh are in terms of what these gave.
enum class Slope {
  kAbs,
  kAcos,
  kAcosh,
  kAsin,
  kAsinh,
  kAtan,
  kAtanh,
  kCelu,
  kClip,
  kCos,
  kCosh,
  kElu,
  kErf,
  kGelu,
  kGeluTanh,
  kHardSigmoid,
  kHardSwish,
  kLeakyRelu,
  kMish,
  kRelu,
  kSelu,
  kSigmoid,
  kSin,
  kSinh,
  kSoftplus,
  kSoftsign,
  kSwish,
  kTan,
  kTanh,
  kThresholded
};

/// out = grad * slope(at).
struct SlopeArgs {
  Elem type;
  Slope slope;
  float a, b;  ///< parameters of the function
  const void *at, *grad;
  void* out;
  int64_t count;
};
Status slope(Queue& queue, const SlopeArgs& args);

/// Of (Log)Softmax along the middle axis, which gave `made`.
struct SoftmaxGradArgs {
  Elem type;
  bool log;
  int64_t outer, length, inner;
  const void *made, *grad;
  void* out;
};
Status softmax_grad(Queue& queue, const SoftmaxGradArgs& args);

/// Of rows normalized as by NormArgs, with `channels` factors for each of `period` rows in turn: the gradients of `in`,
/// of the factors and of what was added. `stats` has room for 2 * rows numbers, `sums` for 2 * slices * factors.
struct NormGradArgs {
  Elem type;
  bool rms;
  float epsilon;
  int64_t rows, length, period, channels, inner, slices;
  const void *in, *grad, *scale;
  void *out, *scale_out, *bias_out;
  float *stats, *sums;
};
Status norm_grad(Queue& queue, const NormGradArgs& args);

/// Of x and its squares and of dy and its products with x, over a channel.
struct ChannelTotal {
  double x, squares, dy, product;
};

/// BatchNormalization of [batch, channels, inner]. Statistics and factors are float32; `sums` has room for 4 * slices
/// + 4 numbers a channel. Where `totals`, one a channel, is not null, `sums` hold those of batch_norm_totals(), and the
/// statistics follow from `totals`, but for the gradients of scale and bias, which are those of this batch.
struct BatchNormArgs {
  Elem type;
  bool fixed;  ///< the gradient: by the given statistics
  float epsilon, momentum;
  int64_t batch, channels, inner, slices;
  const void *in, *grad;
  const float *scale, *bias, *mean, *variance;  ///< the latter are the running ones, or those given
  void* out;
  float *first, *second;  ///< running statistics; for the gradient, those of scale and bias
  float* sums;
  ChannelTotal* totals;
};
/// Makes `totals`.
Status batch_norm_totals(Queue& queue, const BatchNormArgs& args);
/// By the batch's statistics, of which the running ones take up 1 - momentum.
Status batch_norm(Queue& queue, const BatchNormArgs& args);
Status batch_norm_grad(Queue& queue, const BatchNormArgs& args);

/// The gradient of a pool's input. Room for a number for each of its outputs: `best` for kMax, `norms` for kNorm.
struct PoolGradArgs {
  PoolArgs pool;  ///< `in` is the pool's, `out` the gradient of it
  const void* grad;
  int32_t* best;
  float* norms;
};
Status pool_grad(Queue& queue, const PoolGradArgs& args);

/// The gradient of a convolution's weights: out[m, c, tap], of the type of its input.
struct ConvGradArgs {
  ConvArgs conv;  ///< its `in`
  const void* grad;
  void* out;
};
Status conv_grad(Queue& queue, const ConvGradArgs& args);

/// Of a transposed convolution, as ConvArgs has it: out[image, c, ...] = the sum of columns[image, c * taps + tap,
/// position] that a window at that position adds there, for the channels of a group.
struct FoldArgs {
  ConvArgs conv;
  int images, group;
  const void* columns;
  void* out;  ///< the first image, with all of its channels
};
Status fold(Queue& queue, const FoldArgs& args);

/// out[o, place i, k] = the sum of grad[o, i, k] over all i with this place, in their order, of [outer, length, inner];
/// places as in places.h, those outside go nowhere. `lists` has room for 2 * count numbers.
struct GatherGradArgs {
  Elem type;
  bool wide;
  int64_t outer, length, inner, count;
  const void *places, *grad;
  int32_t* lists;
  void* out;
};
Status gather_grad(Queue& queue, const GatherGradArgs& args);

/// out = clamp(round(in / step), low, high) * step, with the steps' logarithms; element i has step i / inner % steps.
struct FakeQuantizeArgs {
  Elem type;
  bool odd;  ///< the codes are odd numbers
  float low, high;
  int64_t count, steps, inner;
  const void *in, *logs;
  void* out;
};
Status fake_quantize(Queue& queue, const FakeQuantizeArgs& args);

/// Of the same: grad where nothing is clamped, and share * sum of grad (code - in / step where nothing is clamped) /
/// step. `sums` has room for steps * slices numbers.
struct FakeQuantizeGradArgs {
  FakeQuantizeArgs forward;  ///< `out` is the gradient of `in`
  float share;
  int64_t slices;
  const void* grad;
  void* logs_out;
  float* sums;
};
Status fake_quantize_grad(Queue& queue, const FakeQuantizeGradArgs& args);

/// SeededDropout of [outer, samples, length]: out = in / (1 - ratio), or 0 where the number at the element's position
/// in its sample, of those that follow from the sample's key and `node`, is below `dropped`.
struct DropoutArgs {
  Elem type;
  int64_t outer, samples, length;
  uint64_t node, dropped;
  float ratio;
  const int64_t* keys;
  const void* in;
  void* out;
};
Status dropout(Queue& queue, const DropoutArgs& args);

/// Numbers that follow from *key and `node`, and their positions: from 0 to below 1, or standard normal.
struct SeededArgs {
  Elem type;
  bool normal;
  uint64_t node;
  int64_t count;
  const int64_t* key;
  void* out;
};
Status seeded(Queue& queue, const SeededArgs& args);

}  // namespace mlopt::gpu
