#pragma once
#include "backends/cpu/dnn.h"
#include "core/ir/window.h"

namespace mlopt::cpu {

/// A convolution as a primitive sees it.
struct ConvShape {
  Dims src, weights, dst;  ///< weights: [M, C, k...], or [g, M/g, C/g, k...] when grouped
  int64_t groups;
  Window window;

  int64_t channels_out() const { return dst[1]; }
};

/// The convolution of an input and weights [M, C/g, k...] of these dims by the node's attributes. Declines what does
/// not fit together, which the reference kernel explains.
Expected<ConvShape> conv_shape(const NodeView& view, const Dims& x, const Dims& w);

/// [M, C/g, k...] as oneDNN has it.
Dims conv_weight_dims(const Dims& w, int64_t groups);

/// The same convolution with its axes of one position in front, since primitives multiply along the last axis. It reads
/// and writes the same bytes, in any layout.
ConvShape long_axes_last(const ConvShape& shape);

using ConvPd = dnnl::convolution_forward::primitive_desc;

/// A null desc for `bias` leaves it out. The result is empty where oneDNN has no such primitive.
ConvPd describe_conv(const ConvShape& shape, const Desc& src, Elem weights, const Desc& bias, const Desc& dst,
                     const dnnl::primitive_attr& attr);

}  // namespace mlopt::cpu
