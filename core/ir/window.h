#pragma once
#include "core/base/expected.h"
#include "core/ir/view.h"
#include "core/tensor/dims.h"

namespace mlopt {

/// A sliding window over the spatial axes, one entry an axis, as Conv and the pools describe it; dilations count
/// from 1.
struct Window {
  Dims kernel, strides, dilations, begin, end;  // begin, end: padding

  /// Elements from the first to the last tap of the kernel along axis i.
  int64_t extent(size_t i) const { return (kernel[i] - 1) * dilations[i] + 1; }
  /// oneDNN counts dilations from 0.
  Dims gaps() const;
  bool is_point() const;  ///< one tap, no padding
};

/// The window of a Conv or a pool with this kernel over this input. Declines malformed attributes, which the reference
/// kernels explain.
Expected<Window> window_over(const NodeView& view, const Dims& spatial, const Dims& kernel);

/// Positions of the window along each spatial axis, rounded down or up; declines when there is none.
Expected<Dims> positions(const Window& window, const Dims& spatial, bool ceil_mode = false);

/// What a ConvTranspose makes of these spatial axes, and where its window, which window_over() gave, begins and ends
/// over that; `end` is below 0 where output_padding adds elements that no tap reaches. Declines malformed attributes.
Expected<Dims> transposed_positions(const NodeView& view, const Dims& in, Window& window);

/// The spatial axes of [N, C, ...].
inline Dims spatial_of(const Dims& dims) { return Dims(dims.begin() + 2, dims.end()); }

}  // namespace mlopt
