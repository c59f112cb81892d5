#pragma once
#include <cstddef>
#include <optional>
#include <vector>

#include "backends/cpu/byte_depthwise.h"
#include "backends/cpu/byte_finish.h"
#include "backends/cpu/byte_pack.h"
#include "backends/cpu/byte_tile.h"

namespace mlopt::cpu {

/// How a convolution is divided among threads and into blocks that the caches hold, decided once. Runs allocate
/// nothing, and may overlap when each has scratch of its own.
class ByteConv {
 public:
  /// Do the distances between the taps of a position fit in 32 bits, whatever the layout?
  static bool fits(const ByteShape& shape);
  /// Of a shape that fits. `weights`: packed in this form; only the order of their steps is read. Null: packed in each
  /// run, as pairs.
  ByteConv(const ByteShape& shape, ByteSource source, bool result_channels_last, const PackedTaps* weights,
           int threads);

  size_t scratch_bytes() const {
    return depthwise_ ? depthwise_->scratch_bytes() : start_bytes_ + static_cast<size_t>(shares_) * share_bytes();
  }
  /// `finish.stride` is set here; nothing may be added to a
  /// result whose channels do not come last.
  void run(Bytes source, int32_t zero, const PackedView& weights, ByteFinish finish, std::byte* scratch) const;

 private:
  struct Args;
  struct Block;

  void divide(int threads);
  void place_taps();
  void place_steps(const PackedTaps* weights);
  size_t share_bytes() const { return image_bytes_ + rows_bytes_ + sums_bytes_ + result_bytes_; }
  int64_t blocks() const { return shape_.images * shape_.axes[0].out * blocks_of_height_; }
  /// Elements of the source's width that positions read.
  int64_t width() const { return shape_.axes[2].reach(shape_.axes[2].out); }
  BytePanels panels() const { return {shape_, form_, kernels_}; }
  int64_t units() const { return shape_.groups * panels().count(); }
  void run_share(const Args& args, int64_t share) const;
  Block block(int64_t index) const;
  const std::byte* source_of(const Args& args, const Block& block) const;
  template <class T>
  void load(const Args& args, const Block& block, T* image) const;
  template <class T>
  void load_row(const Args& args, const Block& block, int64_t depth, int64_t row, T* out) const;
  void multiply(const Args& args, const Block& block, int64_t begin, int64_t end) const;
  void multiply_panel(const Args& args, const Block& block, int64_t unit, int64_t first, int64_t last) const;
  void spread(const Args& args, const Block& block, const std::byte* result, int64_t begin, int64_t end) const;

  std::optional<ByteDepthwise> depthwise_;  ///< does it all, where there is one
  ByteShape shape_;
  ByteSource source_;
  bool result_last_;
  ByteForm form_;
  ByteKernels kernels_;
  bool direct_ = false;                        ///< positions are read where the source lies
  int64_t line_ = 0, slab_ = 0;                ///< bytes between rows, and between taps of the depth
  std::vector<int64_t> segments_;              ///< in bytes
  std::vector<int32_t> offsets_;               ///< of each step; empty: the order of the weights, which are bytes
  bool weights_inside_ = false;                ///< all panels meet a few positions, rather than all positions a panel
  int64_t height_ = 1, blocks_of_height_ = 1;  ///< rows of the result in a block
  int64_t shares_ = 1, column_shares_ = 1;
  size_t start_bytes_ = 0, image_bytes_ = 0, rows_bytes_ = 0, sums_bytes_ = 0, result_bytes_ = 0;
};

}  // namespace mlopt::cpu
