#pragma once
#include <array>
#include <memory>
#include <vector>

#include "backends/cpu/activation.h"
#include "backends/cpu/conv_shape.h"
#include "backends/cpu/depthwise_kernel.h"

namespace mlopt::cpu {

/// The operands of one run, channels-last.
struct DepthwiseArgs {
  const float* src = nullptr;
  float* dst = nullptr;
  const float* bias = nullptr;    ///< [M]; null: 0
  const float* addend = nullptr;  ///< as dst; null: 0
  Activation activation = {};
};

/// dst = activation(conv(src, weights) + bias + addend) over one or two spatial axes, where each channel of the source
/// is a group of its own, which makes one or more channels of dst. Runs allocate nothing, give the same bits every
/// time, and may overlap.
class DepthwisePlan {
 public:
  /// The convolution is one of these, with at least as many channels as a vector has elements.
  static bool takes(const ConvShape& shape);
  /// Weights [M, 1, k...] as the plan reads them: the channels innermost.
  static std::vector<float> packed(const float* weights, const ConvShape& shape);

  /// `weights` is what packed() gives.
  DepthwisePlan(const ConvShape& shape, std::shared_ptr<const std::vector<float>> weights, int threads);

  /// dst may be the addend.
  bool in_place() const { return channels_out_ % kernels_.lanes == 0; }
  void run(const DepthwiseArgs& args) const;

 private:
  struct Axis {
    int64_t in = 1, out = 1, kernel = 1, stride = 1, dilation = 1, begin = 0;

    /// Where the first tap of position `o` lies, and the taps [from, to) of it that lie on the input.
    int64_t at(int64_t o) const { return o * stride - begin; }
    int64_t from(int64_t o) const;
    int64_t to(int64_t o) const;
  };
  struct Range {
    int64_t begin, end;
  };
  /// What is computed at a time.
  struct Block {
    Range rows, columns, channels;
  };

  void divide(int64_t threads);
  void spread();
  Block block(int64_t index) const;
  void run_row(const DepthwiseArgs& args, const Block& block, int64_t row) const;

  DepthwiseKernels kernels_;
  std::array<Axis, 2> axes_;  ///< rows, columns
  Range inner_ = {0, 0};      ///< columns whose taps all lie on the input
  int64_t images_, channels_, channels_out_;
  int64_t chunk_, row_parts_ = 1, column_parts_ = 1, channel_parts_ = 1;  ///< blocks
  std::shared_ptr<const std::vector<float>> weights_;
  std::vector<int64_t> first_;  ///< as in DepthwiseRow; empty where each channel makes one
  std::vector<int32_t> lanes_;
};

}  // namespace mlopt::cpu
