#pragma once
#include <cstddef>
#include <vector>

#include "backends/cpu/byte_pack.h"
#include "backends/cpu/byte_tile.h"

namespace mlopt::cpu {

/// How a convolution is divided among threads and into blocks that the caches hold, decided once. Runs allocate
/// nothing, and may overlap when each has scratch of its own.
class ByteConv {
 public:
  /// Whether channels come last on either side (else they lie as ONNX has them).
  struct Layouts {
    bool source_last = true, result_last = true;
  };
  ByteConv(ByteShape shape, Layouts layouts, int threads);

  struct Weights {
    const std::byte* data;
    bool is_wide;
  };
  size_t scratch_bytes() const { return static_cast<size_t>(shares_) * share_bytes(); }
  /// `finish.stride` is set here; nothing may be added to a result whose channels do not come last.
  void run(Bytes source, int32_t zero, const Weights& weights, ByteFinish finish, std::byte* scratch) const;

 private:
  struct Args;
  struct Block;

  size_t share_bytes() const { return image_bytes_ + sums_bytes_ + result_bytes_; }
  int64_t blocks() const { return shape_.images * shape_.axes[0].out * blocks_of_height_; }
  int64_t width() const { return shape_.axes[2].reach(shape_.axes[2].out); }
  int64_t units() const;
  void run_share(const Args& args, int64_t share) const;
  Block block(int64_t index) const;
  void load(const Args& args, const Block& block, int16_t* image) const;
  void load_row(const Args& args, const Block& block, int64_t depth, int64_t row, int16_t* out) const;
  const int16_t* position(const int16_t* image, int64_t i) const;
  void multiply(const Args& args, const Block& block, const int16_t* image, int64_t begin, int64_t end) const;
  void convolve_depthwise(const Args& args, const Block& block, const int16_t* image) const;
  void spread(const Args& args, const Block& block, const std::byte* result, int64_t begin, int64_t end) const;

  ByteShape shape_;
  Layouts layouts_;
  ByteKernels kernels_;
  std::vector<int64_t> segments_, tap_pairs_;
  int64_t height_ = 1, blocks_of_height_ = 1;  ///< rows of the result in a block
  int64_t shares_ = 1, column_shares_ = 1;
  size_t image_bytes_ = 0, sums_bytes_ = 0, result_bytes_ = 0;
};

}  // namespace mlopt::cpu
