#include "backends/cpu/depthwise.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/base/align.h"
#include "core/base/parallel.h"

namespace mlopt::cpu {
namespace {

constexpr int64_t kChunk = 128;  // channels of a block, where there are so many
constexpr float kInfinity = std::numeric_limits<float>::infinity();

}  // namespace

bool DepthwisePlan::takes(const ConvShape& s) {
  return s.src.size() <= 4 && s.groups == s.src[1] && s.groups >= depthwise_kernels().lanes && element_count(s.dst) > 0;
}

std::vector<float> DepthwisePlan::packed(const float* weights, const ConvShape& s) {
  const int64_t taps = element_count(s.window.kernel), channels = s.dst[1];
  std::vector<float> out(static_cast<size_t>(taps * channels));
  for (int64_t c = 0; c < channels; ++c)
    for (int64_t tap = 0; tap < taps; ++tap) out[static_cast<size_t>(tap * channels + c)] = weights[c * taps + tap];
  return out;
}

int64_t DepthwisePlan::Axis::from(int64_t o) const {
  return at(o) >= 0 ? 0 : std::min(kernel, ceil_div(-at(o), dilation));
}

int64_t DepthwisePlan::Axis::to(int64_t o) const {
  return at(o) >= in ? 0 : std::min(kernel, ceil_div(in - at(o), dilation));
}

DepthwisePlan::DepthwisePlan(const ConvShape& s, std::shared_ptr<const std::vector<float>> weights, int threads)
    : kernels_(depthwise_kernels()),
      images_(s.src[0]),
      channels_(s.src[1]),
      channels_out_(s.dst[1]),
      chunk_(round_up(kChunk, kernels_.lanes)),
      weights_(std::move(weights)) {
  const size_t axes = s.window.kernel.size();
  for (size_t i = 0; i < axes; ++i)
    axes_[2 - axes + i] = {s.src[2 + i],        s.dst[2 + i],          s.window.kernel[i],
                           s.window.strides[i], s.window.dilations[i], s.window.begin[i]};
  const Axis& width = axes_[1];
  while (inner_.begin < width.out && width.at(inner_.begin) < 0) ++inner_.begin;
  inner_.end = inner_.begin;
  while (inner_.end < width.out && width.to(inner_.end) == width.kernel) ++inner_.end;
  if (channels_out_ > channels_) spread();
  divide(std::max(1, threads));
}

/// Blocks whose rows under the taps stay in the first cache from row to row, and neighbours along the channels, which
/// share cache lines and pages, one after the other in the second.
void DepthwisePlan::divide(int64_t threads) {
  constexpr int64_t kFirst = 20 * 1024, kSecond = 64 * 1024, kNarrow = 12, kPerThread = 4;
  const Axis &height = axes_[0], &width = axes_[1];
  const int64_t rows = images_ * height.out;
  channel_parts_ = std::max<int64_t>(1, channels_out_ / chunk_);
  const int64_t columns = std::max(kNarrow, kFirst / (height.kernel * width.stride * chunk_));
  column_parts_ = ceil_div(width.out, columns);
  const int64_t row = ceil_div(width.out, column_parts_) * width.stride * height.stride * channels_;
  row_parts_ = ceil_div(rows, std::clamp<int64_t>(kSecond / row, 1, rows));
  const auto more = [&](int64_t& parts, int64_t most) {
    const int64_t others = row_parts_ * column_parts_ * channel_parts_ / parts;
    parts = std::max(parts, std::min(most, ceil_div(kPerThread * threads, others)));
  };
  more(row_parts_, rows);
  more(column_parts_, ceil_div(width.out, kNarrow));
}

void DepthwisePlan::spread() {
  const int64_t lanes = kernels_.lanes, each = channels_out_ / channels_;
  for (int64_t vector = 0; vector * lanes < channels_out_; ++vector) {
    const int64_t channel = std::min(vector * lanes, channels_out_ - lanes);
    first_.push_back(std::min(channel / each, channels_ - lanes));
    for (int64_t i = 0; i < lanes; ++i) lanes_.push_back(static_cast<int32_t>((channel + i) / each - first_.back()));
  }
}

DepthwisePlan::Block DepthwisePlan::block(int64_t index) const {
  const auto part = [](int64_t all, int64_t i, int64_t parts) { return Range{all * i / parts, all * (i + 1) / parts}; };
  const int64_t chunk = index % channel_parts_;
  index /= channel_parts_;
  return {part(images_ * axes_[0].out, index / column_parts_, row_parts_),
          part(axes_[1].out, index % column_parts_, column_parts_),
          {chunk * chunk_, chunk + 1 == channel_parts_ ? channels_out_ : (chunk + 1) * chunk_}};
}

void DepthwisePlan::run(const DepthwiseArgs& args) const {
  constexpr int64_t kGrain = 1 << 16;  // multiplications below which a second thread costs more than it brings
  const int64_t blocks = row_parts_ * column_parts_ * channel_parts_;
  const int64_t work = images_ * axes_[0].out * axes_[1].out * channels_out_ * axes_[0].kernel * axes_[1].kernel;
  parallel_for(blocks, std::max<int64_t>(1, kGrain * blocks / work), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const Block b = block(i);
      for (int64_t row = b.rows.begin; row < b.rows.end; ++row) run_row(args, b, row);
    }
  });
}

void DepthwisePlan::run_row(const DepthwiseArgs& args, const Block& block, int64_t row) const {
  const Axis &height = axes_[0], &width = axes_[1];
  const int64_t image = row / height.out, y = row % height.out, pitch = width.in * channels_;
  const int64_t from = height.from(y), rows = std::max<int64_t>(0, height.to(y) - from);
  const int64_t source_row = rows == 0 ? 0 : image * height.in + height.at(y) + from * height.dilation;
  const int64_t source_column = width.at(block.columns.begin);
  const int64_t place = (row * width.out + block.columns.begin) * channels_out_;
  const auto limits = limits_of(args.activation);
  const auto inside = [&](int64_t x) { return std::clamp(x, block.columns.begin, block.columns.end); };
  kernels_.row[first_.empty() ? 0 : 1]({.src = args.src + source_row * pitch + source_column * channels_,
                                        .weights = weights_->data() + from * width.kernel * channels_out_,
                                        .rows = rows,
                                        .taps = width.kernel,
                                        .src_row = height.dilation * pitch,
                                        .src_tap = width.dilation * channels_,
                                        .src_column = width.stride * channels_,
                                        .weight_row = width.kernel * channels_out_,
                                        .left = inside(inner_.begin) - block.columns.begin,
                                        .right = block.columns.end - inside(inner_.end),
                                        .columns = block.columns.end - block.columns.begin,
                                        .src_before = source_column * channels_,
                                        .src_after = (width.in - source_column) * channels_,
                                        .channels = channels_out_,
                                        .begin = block.channels.begin,
                                        .end = block.channels.end,
                                        .first = first_.data(),
                                        .lanes = lanes_.data(),
                                        .bias = args.bias,
                                        .addend = args.addend ? args.addend + place : nullptr,
                                        .low = limits ? limits->low : -kInfinity,
                                        .high = limits ? limits->high : kInfinity,
                                        .activation = limits ? nullptr : &args.activation,
                                        .out = args.dst + place});
}

}  // namespace mlopt::cpu
