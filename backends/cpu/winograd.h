#pragma once
#include <cstddef>
#include <memory>

#include "backends/cpu/winograd_kernel.h"
#include "backends/cpu/winograd_weights.h"

namespace mlopt::cpu {

/// The operands of one run, channels-last.
struct WinogradArgs {
  const float* src = nullptr;
  float* dst = nullptr;
  const float* bias = nullptr;    ///< [M]; null: 0
  const float* addend = nullptr;  ///< as dst, and may be dst; null: 0
  Activation activation = {};
};

/// dst = activation(conv(src, weights) + bias + addend) in tiles of m x m results. Tiles in which a sum overflows, or
/// meets a NaN or an infinity, are convolved directly, so that only the results in reach of such a number show it. Runs
/// allocate nothing, give the same bits every time, and may overlap when each has a workspace of its own.
class WinogradPlan {
 public:
  WinogradPlan(ConvShape shape, std::shared_ptr<const WinogradWeights> weights, int threads);

  /// Of what run() needs, aligned to 64 bytes.
  size_t workspace_bytes() const;
  void run(const WinogradArgs& args, std::byte* workspace) const;

 private:
  /// Tiles and panels of output channels.
  struct Share {
    int64_t tile_begin, tile_end, panel_begin, panel_end;
  };
  /// A thread's memory: the transformed source [n * n][tiles][channels], the products [n * n][tiles][columns], and the
  /// results of one tile [m * m][columns].
  struct Space {
    float *source, *sums, *results;
  };
  /// Where the pixels of a tile begin in the source and the destination; -1: outside.
  struct Pixels {
    int64_t source[6 * 6], results[4 * 4];
  };

  int64_t n() const { return weights_->m() + 2; }
  int64_t source_elements() const;
  int64_t sum_elements() const;
  int64_t space_elements() const;
  Share share(int64_t index) const;
  Pixels pixels_of(int64_t tile) const;
  void run_share(const WinogradArgs& args, const Share& share, const Space& space) const;
  void multiply(const Space& space, int64_t tiles, int64_t panel_begin, int64_t panel_end) const;
  void finish(const WinogradArgs& args, const Space& space, const Share& done) const;
  void convolve(const WinogradArgs& args, const Pixels& pixels, int64_t column, int64_t columns,
                const Space& space) const;

  ConvShape shape_;
  std::shared_ptr<const WinogradWeights> weights_;
  WinogradTransforms transforms_;
  ProductKernels kernels_;
  int64_t rows_, columns_;                      ///< of tiles in an image
  int64_t tiles_;                               ///< in all
  int64_t pitch_;                               ///< between the channels of neighbouring tiles in the workspace
  int64_t row_shares_ = 1, column_shares_ = 1;  ///< threads
  int64_t row_parts_ = 1;                       ///< of the tiles, which threads take one after the other
  int64_t tile_block_ = 1, panel_block_ = 1;    ///< that are worked on at a time
};

}  // namespace mlopt::cpu
