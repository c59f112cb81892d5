#include "backends/cpu/byte_conv.h"

#include <omp.h>

#include <algorithm>

#include "core/base/align.h"
#include "core/base/parallel.h"

namespace mlopt::cpu {
namespace {

constexpr int64_t kSlack = 64;               // elements that vectors may read behind the last one
constexpr int64_t kDepthwisePositions = 16;  // whose sums are made together

}  // namespace

/// Of one run.
struct ByteConv::Args {
  Bytes source;
  int32_t zero;
  Weights weights;
  ByteFinish finish;
  std::byte* scratch;
};

/// Rows [row, row + height) of one plane of the result, and of its columns those of the units [begin, end).
struct ByteConv::Block {
  int64_t image, depth, row, height;
  int64_t positions, first;  ///< in the block, and the one that it begins with
};

ByteConv::ByteConv(ByteShape shape, Layouts layouts, int threads)
    : shape_(shape), layouts_(layouts), kernels_(byte_kernels()) {
  auto& [depth, height, width] = shape_.axes;
  if (shape_.is_product() && layouts_.source_last && layouts_.result_last)
    shape_ = ByteShape::product(shape_.images * depth.in * height.in * width.in, shape_.channels, shape_.columns);

  constexpr int64_t kMacs = 1 << 17;  // below which a second thread costs more than it brings
  const int64_t planes = shape_.images * depth.out, rows = planes * height.out, positions = rows * width.out;
  const int64_t macs = positions * shape_.columns * shape_.group_channels() * shape_.taps();
  const int64_t most = std::clamp<int64_t>(macs / kMacs, 1, threads);
  const int64_t row_shares = std::clamp<int64_t>(positions / (2 * kernels_.rows), 1, std::min(most, rows));
  column_shares_ = std::clamp<int64_t>(most / row_shares, 1, units());
  shares_ = row_shares * column_shares_;

  constexpr int64_t kCached = 128 << 10;  // bytes of an image: with a panel of weights, it stays in the second cache
  const int64_t row_bytes = depth.taps * this->width() * shape_.channels * 2;
  const int64_t held = (kCached / row_bytes - height.reach(1)) / height.stride + 1;
  const int64_t least = ceil_div(kernels_.rows, width.out);
  height_ = std::clamp<int64_t>(held, least, std::max(least, ceil_div(height.out, ceil_div(row_shares, planes))));
  height_ = std::min(height_, height.out);
  blocks_of_height_ = ceil_div(height.out, height_);
  height_ = ceil_div(height.out, blocks_of_height_);
  blocks_of_height_ = ceil_div(height.out, height_);

  const int64_t line = this->width() * shape_.channels, slab = height.reach(height_) * line;
  for (int64_t d = 0; d < depth.taps; ++d)
    for (int64_t h = 0; h < height.taps; ++h)
      for (int64_t w = 0; w < (shape_.joins_width() ? 1 : width.taps); ++w)
        segments_.push_back(d * slab + h * height.dilation * line + w * width.dilation * shape_.channels);
  tap_pairs_ = segments_;
  if (tap_pairs_.size() % 2 != 0) tap_pairs_.push_back(tap_pairs_.back());
  image_bytes_ = aligned_size(static_cast<size_t>(depth.taps * slab + kSlack) * sizeof(int16_t));
  const int64_t block = height_ * width.out;
  const int64_t sums = shape_.is_depthwise() ? kDepthwisePositions * padded_channels(shape_, kernels_)
                                             : int64_t{ByteTile::kMostRows} * kernels_.width;
  sums_bytes_ = aligned_size(static_cast<size_t>(sums) * sizeof(int32_t));
  if (!layouts_.result_last) result_bytes_ = aligned_size(static_cast<size_t>(block * shape_.columns) * 4);
}

int64_t ByteConv::units() const {
  return shape_.is_depthwise() ? 1 : shape_.groups * BytePanels(shape_, kernels_).count();
}

void ByteConv::run(Bytes source, int32_t zero, const Weights& weights, ByteFinish finish, std::byte* scratch) const {
  finish.stride = shape_.columns;
  const Args args{source, zero, weights, finish, scratch};
  parallel_for(shares_, 1, [&](int64_t begin, int64_t end) {
    for (int64_t share = begin; share < end; ++share) run_share(args, share);
  });
}

void ByteConv::run_share(const Args& args, int64_t share) const {
  const int64_t row_shares = shares_ / column_shares_, row = share / column_shares_, column = share % column_shares_;
  const int64_t begin = units() * column / column_shares_, end = units() * (column + 1) / column_shares_;
  Args own = args;
  own.scratch += static_cast<size_t>(share) * share_bytes();
  auto* image = reinterpret_cast<int16_t*>(own.scratch);
  std::byte* result = own.scratch + image_bytes_ + sums_bytes_;
  for (int64_t b = blocks() * row / row_shares; b < blocks() * (row + 1) / row_shares; ++b) {
    const Block block = this->block(b);
    load(own, block, image);
    if (!layouts_.result_last) own.finish.out = result;
    if (shape_.is_depthwise())
      convolve_depthwise(own, block, image);
    else
      multiply(own, block, image, begin, end);
    if (layouts_.result_last) continue;
    own.finish.out = args.finish.out;
    spread(own, block, result, begin, end);
  }
}

ByteConv::Block ByteConv::block(int64_t index) const {
  const int64_t row = index % blocks_of_height_ * height_, plane = index / blocks_of_height_;
  const int64_t height = std::min(height_, shape_.axes[1].out - row), line = shape_.axes[2].out;
  const int64_t first = layouts_.result_last ? (plane * shape_.axes[1].out + row) * line : 0;
  return {plane / shape_.axes[0].out, plane % shape_.axes[0].out, row, height, height * line, first};
}

/// The part of the source that the block's positions read, less the zero point, which padding is too.
void ByteConv::load(const Args& args, const Block& block, int16_t* image) const {
  const auto& [depth, height, width] = shape_.axes;
  const int64_t line = this->width() * shape_.channels, slab = height.reach(height_);
  for (int64_t d = 0; d < depth.taps; ++d)
    for (int64_t row = 0; row < height.reach(block.height); ++row) {
      if (height.taps == 1 && row % height.stride != 0) continue;  // between positions
      load_row(args, block, block.depth * depth.stride - depth.begin + d * depth.dilation,
               block.row * height.stride - height.begin + row, image + (d * slab + row) * line);
    }
}

void ByteConv::load_row(const Args& args, const Block& block, int64_t depth, int64_t row, int16_t* out) const {
  const auto& [d, h, w] = shape_.axes;
  const int64_t channels = shape_.channels, length = width();
  if (depth < 0 || depth >= d.in || row < 0 || row >= h.in) {
    std::fill_n(out, length * channels, int16_t{0});
    return;
  }
  const int64_t left = std::min(w.begin, length), count = std::min(w.in, length - left);
  std::fill_n(out, left * channels, int16_t{0});
  std::fill_n(out + (left + count) * channels, (length - left - count) * channels, int16_t{0});
  out += left * channels;
  const int64_t line = (depth * h.in + row) * w.in, plane = d.in * h.in * w.in;
  if (layouts_.source_last)
    return kernels_.widen(args.source.at((block.image * plane + line) * channels), count * channels, args.zero, out);
  const auto scatter = [&]<class T>(const T* in) {
    for (int64_t c = 0; c < channels; ++c, in += plane)
      for (int64_t x = 0; x < count; ++x) out[x * channels + c] = static_cast<int16_t>(in[x] - args.zero);
  };
  const Bytes from = args.source.at(block.image * channels * plane + line);
  if (from.is_signed)
    scatter(static_cast<const int8_t*>(from.data));
  else
    scatter(static_cast<const uint8_t*>(from.data));
}

const int16_t* ByteConv::position(const int16_t* image, int64_t i) const {
  const auto& [depth, height, width] = shape_.axes;
  return image + (i / width.out * height.stride * this->width() + i % width.out * width.stride) * shape_.channels;
}

void ByteConv::multiply(const Args& args, const Block& block, const int16_t* image, int64_t begin, int64_t end) const {
  const BytePanels panels(shape_, kernels_);
  const int64_t tiles = ceil_div(block.positions, kernels_.rows), bytes = args.weights.is_wide ? 2 : 1;
  ByteTile tile;
  tile.segments = segments_.data();
  tile.segment_count = shape_.segments();
  tile.pairs = ceil_div(shape_.segment_length(), 2);
  tile.sums = reinterpret_cast<int32_t*>(args.scratch + image_bytes_);
  for (int64_t unit = begin; unit < end; ++unit) {
    const int64_t group = unit / panels.count(), panel = unit % panels.count(), width = panels.width_of(panel);
    const int64_t column = group * panels.columns + panel * panels.width;
    tile.panel = args.weights.data + (group * panels.elements() + panels.offset_of(panel)) * bytes;
    for (int64_t t = 0; t < tiles; ++t) {
      const int64_t first = block.positions * t / tiles, rows = block.positions * (t + 1) / tiles - first;
      for (int64_t r = 0; r < rows; ++r) tile.rows[r] = position(image, first + r) + group * shape_.group_channels();
      kernels_.tile[args.weights.is_wide][width / kernels_.lanes - 1][rows - 1](tile);
      kernels_.finish(args.finish, tile.sums, width, rows, column, panels.columns_of(panel),
                      (block.first + first) * shape_.columns + column);
    }
  }
}

void ByteConv::convolve_depthwise(const Args& args, const Block& block, const int16_t* image) const {
  const int64_t padded = padded_channels(shape_, kernels_);
  auto* sums = reinterpret_cast<int32_t*>(args.scratch + image_bytes_);
  std::array<const int16_t*, kDepthwisePositions> rows;
  for (int64_t first = 0; first < block.positions; first += kDepthwisePositions) {
    const int64_t count = std::min(kDepthwisePositions, block.positions - first);
    for (int64_t i = 0; i < count; ++i) rows[static_cast<size_t>(i)] = position(image, first + i);
    kernels_.depthwise({rows.data(), count, tap_pairs_.data(), static_cast<int64_t>(tap_pairs_.size() / 2),
                        padded / depthwise_block(kernels_), reinterpret_cast<const int16_t*>(args.weights.data), sums});
    kernels_.finish(args.finish, sums, padded, count, 0, shape_.columns, (block.first + first) * shape_.columns);
  }
}

/// A block of the result whose channels come last to where ONNX has it.
void ByteConv::spread(const Args& args, const Block& block, const std::byte* result, int64_t begin, int64_t end) const {
  const auto& [depth, height, width] = shape_.axes;
  const int64_t plane = depth.out * height.out * width.out;
  const int64_t place = (block.depth * height.out + block.row) * width.out;
  const BytePanels panels(shape_, kernels_);
  const auto column_of = [&](int64_t unit) {
    if (shape_.is_depthwise()) return unit * shape_.columns;
    return unit / panels.count() * panels.columns + unit % panels.count() * panels.width;
  };
  const int64_t last = end == units() ? shape_.columns : column_of(end);
  const auto copy = [&]<class T>(const T* from, T* to) {
    for (int64_t c = column_of(begin); c < last; ++c)
      for (int64_t i = 0; i < block.positions; ++i)
        to[(block.image * shape_.columns + c) * plane + place + i] = from[i * shape_.columns + c];
  };
  if (args.finish.element_bytes() == 1)
    copy(reinterpret_cast<const uint8_t*>(result), static_cast<uint8_t*>(args.finish.out));
  else
    copy(reinterpret_cast<const uint32_t*>(result), static_cast<uint32_t*>(args.finish.out));
}

}  // namespace mlopt::cpu
