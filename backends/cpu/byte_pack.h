#pragma once
#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "backends/cpu/byte_quads.h"
#include "backends/cpu/byte_tile.h"
#include "backends/cpu/conv_shape.h"
#include "core/base/align.h"
#include "core/tensor/tensor.h"

namespace mlopt::cpu {

/// A convolution of numbers of 8 bits, or a product of matrices of them: images of one tap, a row for each position.
struct ByteShape {
  struct Axis {
    int64_t in = 1, out = 1, taps = 1, stride = 1, dilation = 1, begin = 0;
    /// Elements of the input from the first to the last that `count` neighbouring positions read.
    int64_t reach(int64_t count) const { return (count - 1) * stride + (taps - 1) * dilation + 1; }
  };
  int64_t images = 1, channels = 1, columns = 1, groups = 1;  ///< columns: channels of the result
  std::array<Axis, 3> axes = {};                              ///< depth, height, width

  static ByteShape conv(const ConvShape& conv);
  static ByteShape product(int64_t m, int64_t k, int64_t n);
  int64_t group_channels() const { return channels / groups; }
  int64_t group_columns() const { return columns / groups; }
  int64_t taps() const { return axes[0].taps * axes[1].taps * axes[2].taps; }
  bool is_depthwise() const { return groups > 1 && groups == channels && groups == columns; }
  /// One tap everywhere: the positions are rows of a matrix.
  bool is_product() const;
  /// Numbers of a row of weights that meet neighbours of the source: along the width where channels are not grouped.
  bool joins_width() const { return groups == 1 && axes[2].dilation == 1; }
  int64_t segments() const { return joins_width() ? axes[0].taps * axes[1].taps : taps(); }
  int64_t segment_length() const { return group_channels() * (joins_width() ? axes[2].taps : 1); }
};

/// Where the panels of a group lie: one place for packing and multiplying.
struct BytePanels {
  int64_t columns, depth;  ///< of a group; depth: elements of a column, filled up to whole steps
  int64_t lanes, width;

  BytePanels(const ByteShape& s, ByteForm form, const ByteKernels& k)
      : columns(s.group_columns()),
        depth(s.segments() * ceil_div(s.segment_length(), neighbours(form)) * neighbours(form)),
        lanes(k.lanes),
        width(k.width) {}
  int64_t count() const { return ceil_div(columns, width); }
  int64_t columns_of(int64_t panel) const { return std::min(width, columns - panel * width); }
  int64_t width_of(int64_t panel) const { return columns_of(panel) <= lanes ? lanes : width; }
  int64_t offset_of(int64_t panel) const { return panel * width * depth; }
  int64_t elements() const { return offset_of(count() - 1) + width_of(count() - 1) * depth; }
};

/// Where the source of a convolution lies, and how.
struct ByteSource {
  bool is_signed = false;
  bool channels_last = true;  ///< else as ONNX has it
};

/// Of a convolution that goes channel by channel: its channels filled up to whole vectors, and its pairs of taps,
/// which are neighbours of the width.
inline int64_t padded_channels(const ByteShape& s, const ByteKernels& k) {
  return ceil_div(s.channels, int64_t{2} * k.lanes) * 2 * k.lanes;
}
inline int64_t depthwise_pairs(const ByteShape& s) {
  return s.axes[0].taps * s.axes[1].taps * ceil_div(s.axes[2].taps, 2);
}

/// Where the packed weights of a panel begin, and what its steps are, in the order in which tiles take them.
struct PanelSteps {
  int64_t weights = 0, first = 0;  ///< in elements, and of its steps in `order`
  int64_t twos = 0, ones = 0;
};

/// Packed weights as a run reads them.
struct PackedView {
  const std::byte* data;
  const int32_t* totals =
      nullptr;  ///< of each column: the source's zero point is taken off last; of quads and channels
  // Of quads:
  const PanelSteps* panels = nullptr;
  const int32_t* order = nullptr;  ///< for each step, an element of [segment][length filled up to whole steps]
};

/// Weights [columns, channels / groups, taps] less their zero points, in the order in which the tiles read them:
/// quads where those are zero and few steps of them must be split.
class PackedTaps {
 public:
  /// `zeros`: one, or one for each column. `swapped`: a matrix [channels, columns].
  PackedTaps(const ByteShape& shape, const Tensor& weights, const std::vector<int32_t>& zeros, bool swapped);

  ByteForm form() const { return form_; }
  PackedView view() const;
  const std::vector<int32_t>& order() const { return order_; }
  size_t bytes() const;

 private:
  void join(const std::vector<QuadPanel>& panels);

  ByteForm form_ = ByteForm::kPairs;
  Tensor packed_;
  std::vector<int32_t> totals_, order_;
  std::vector<PanelSteps> panels_;
};

/// Tells apart, for shared_weights(), the PackedTaps of one constant that is read in that way.
std::string taps_form(const std::string& way, const std::vector<int32_t>& zeros);

/// Bytes of a matrix [k, n] (stored as [n, k] when swapped) that pack_matrix() writes as ByteForm::kPairs.
size_t packed_matrix_bytes(const ByteShape& shape);
void pack_matrix(const ByteShape& shape, Bytes matrix, int32_t zero, bool swapped, std::byte* out);

}  // namespace mlopt::cpu
