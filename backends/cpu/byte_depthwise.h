#pragma once
#include <cstddef>

#include "backends/cpu/byte_finish.h"
#include "backends/cpu/byte_pack.h"
#include "backends/cpu/byte_tile.h"

namespace mlopt::cpu {

/// A convolution of bytes that goes channel by channel: a few channels at a time, whose rows of the source are kept as
/// pairs of neighbours as long as rows of the result need them. Runs allocate nothing, and may overlap when each has
/// scratch of its own.
class ByteDepthwise {
 public:
  ByteDepthwise(const ByteShape& shape, ByteSource source, bool result_channels_last, int threads);

  size_t scratch_bytes() const { return start_bytes_ + static_cast<size_t>(workers_) * worker_bytes(); }
  /// `finish.stride` is set here; nothing may be added to a result whose channels do not come last.
  void run(Bytes source, int32_t zero, const PackedView& weights, ByteFinish finish, std::byte* scratch) const;

 private:
  struct Args;
  struct Part;

  size_t worker_bytes() const { return row_bytes_ + ring_bytes_ + taps_bytes_ + sums_bytes_ + result_bytes_; }
  void divide(int threads);
  int64_t channel_parts() const { return ceil_div(shape_.channels, channels_); }
  int64_t height_parts() const { return ceil_div(shape_.axes[1].out, height_); }
  int64_t width_parts() const { return ceil_div(shape_.axes[2].out, positions_); }
  int64_t parts() const {
    return shape_.images * shape_.axes[0].out * height_parts() * width_parts() * channel_parts();
  }
  /// Pairs of a row of the source that neighbouring positions read.
  int64_t pairs(int64_t positions) const;
  Part part(int64_t index) const;
  void run_part(const Args& args, const Part& part) const;
  int32_t* slot(const Args& args, const Part& part, int64_t depth_tap, int64_t row) const;
  void load_row(const Args& args, const Part& part, int64_t depth_tap, int64_t row) const;
  void fetch(const Args& args, const Part& part, int64_t depth, int64_t row) const;
  void convolve_row(const Args& args, const Part& part, int64_t row) const;
  void spread(const Args& args, const Part& part, int64_t row) const;

  ByteShape shape_;
  ByteSource source_;
  bool result_last_;
  ByteKernels kernels_;
  int64_t step_ = 1;                                   ///< elements of the width between pairs that are read
  int64_t slots_ = 1;                                  ///< rows that are kept for each tap of the depth
  int64_t channels_ = 1, positions_ = 1, height_ = 1;  ///< of a part, and its rows of the result
  int64_t workers_ = 1;
  size_t start_bytes_ = 0, row_bytes_ = 0, ring_bytes_ = 0, taps_bytes_ = 0, sums_bytes_ = 0, result_bytes_ = 0;
};

}  // namespace mlopt::cpu
