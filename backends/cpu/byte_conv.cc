#include "backends/cpu/byte_conv.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "core/base/align.h"
#include "core/base/parallel.h"

namespace mlopt::cpu {
namespace {

constexpr int64_t kSlack = 64;  // elements that vectors may read behind the last one
constexpr int64_t kTiles = 8;   // whose sums are finished together
constexpr int32_t kFlip = 128;  // int8 as uint8: the order of the numbers stays

}  // namespace

/// Of one run, then of one share of it.
struct ByteConv::Args {
  Bytes source;
  int32_t zero;
  PackedView weights;
  ByteFinish finish;
  const int32_t* start;    ///< of the sums of each column
  std::byte* image;        ///< what a block reads, where it is not read directly
  const std::byte** rows;  ///< of each position of a block
  int32_t* sums;
};

/// Rows [row, row + height) of one plane of the result.
struct ByteConv::Block {
  int64_t image, depth, row, height;
  int64_t positions, first;  ///< in the block, and the one that it begins with
};

bool ByteConv::fits(const ByteShape& shape) {
  double reach = static_cast<double>(shape.channels) * sizeof(int16_t);
  for (const ByteShape::Axis& a : shape.axes) reach *= static_cast<double>(std::max(a.in, a.reach(a.out)));
  return shape.taps() == 1 || reach <= std::numeric_limits<int32_t>::max();
}

ByteConv::ByteConv(const ByteShape& shape, ByteSource source, bool result_channels_last, const PackedTaps* weights,
                   int threads)
    : shape_(shape),
      source_(source),
      result_last_(result_channels_last),
      form_(weights ? weights->form() : ByteForm::kPairs),
      kernels_(byte_kernels()) {
  if (shape.is_depthwise()) {
    depthwise_.emplace(shape, source, result_channels_last, threads);
    return;
  }
  const auto& [depth, height, width] = shape_.axes;
  if (shape_.is_product() && source_.channels_last && result_last_)
    shape_ = ByteShape::product(shape_.images * depth.in * height.in * width.in, shape_.channels, shape_.columns);
  direct_ = form_ == ByteForm::kQuads && source_.channels_last && !source_.is_signed &&
            shape_.segment_length() % neighbours(form_) == 0 &&
            std::all_of(shape_.axes.begin(), shape_.axes.end(),
                        [](const ByteShape::Axis& a) { return a.begin == 0 && a.reach(a.out) <= a.in; });
  divide(threads);
  place_taps();
  place_steps(weights);
  start_bytes_ = aligned_size(static_cast<size_t>(shape_.columns + kernels_.width) * sizeof(int32_t));
  const int64_t positions = height_ * width.out;
  if (!direct_) image_bytes_ = aligned_size(static_cast<size_t>(depth.taps * slab_) + kSlack * sizeof(int16_t));
  rows_bytes_ = aligned_size(static_cast<size_t>(positions) * sizeof(std::byte*));
  sums_bytes_ =
      aligned_size(static_cast<size_t>(kTiles * kernels_.most_rows(form_) * kernels_.width) * sizeof(int32_t));
  if (!result_last_) result_bytes_ = aligned_size(static_cast<size_t>(positions * shape_.columns) * 4);
}

/// Among threads, and the rows of the result into blocks.
void ByteConv::divide(int threads) {
  const auto& [depth, height, width] = shape_.axes;
  constexpr int64_t kMacs = 1 << 17;  // below which a second thread costs more than it brings
  const int64_t planes = shape_.images * depth.out, rows = planes * height.out, positions = rows * width.out;
  const int64_t macs = positions * shape_.columns * shape_.group_channels() * shape_.taps();
  const int64_t most = std::clamp<int64_t>(macs / kMacs, 1, threads), tile = kernels_.most_rows(form_);
  const int64_t row_shares = std::clamp<int64_t>(positions / (2 * tile), 1, std::min(most, rows));
  column_shares_ = std::clamp<int64_t>(most / row_shares, 1, units());
  shares_ = row_shares * column_shares_;

  constexpr int64_t kCached = 128 << 10;  // bytes of an image: with a panel of weights, it stays in the second cache
  const int64_t row_bytes = depth.taps * this->width() * shape_.channels * left_bytes(form_);
  const int64_t held = (kCached / row_bytes - height.reach(1)) / height.stride + 1, least = ceil_div(tile, width.out);
  height_ = std::clamp<int64_t>(held, least, std::max(least, ceil_div(height.out, ceil_div(row_shares, planes))));
  blocks_of_height_ = ceil_div(height.out, std::min(height_, height.out));
  height_ = ceil_div(height.out, blocks_of_height_);
  blocks_of_height_ = ceil_div(height.out, height_);
  // What is smaller stays in the first cache while the other streams.
  weights_inside_ = panels().elements() * shape_.groups * weight_bytes(form_) < height_ * height.stride * row_bytes;
}

/// Where the taps of a position lie behind its first one.
void ByteConv::place_taps() {
  const auto& [depth, height, width] = shape_.axes;
  const int64_t pixel = shape_.channels * left_bytes(form_);
  line_ = (direct_ ? width.in : this->width()) * pixel;
  slab_ = direct_ ? depth.dilation * height.in * line_ : height.reach(height_) * line_;
  for (int64_t d = 0; d < depth.taps; ++d)
    for (int64_t h = 0; h < height.taps; ++h)
      for (int64_t w = 0; w < (shape_.joins_width() ? 1 : width.taps); ++w)
        segments_.push_back(d * slab_ + h * height.dilation * line_ + w * width.dilation * pixel);
}

/// Where each step of the weights finds its neighbours.
void ByteConv::place_steps(const PackedTaps* weights) {
  if (form_ == ByteForm::kQuads && segments_.size() == 1) return;  // as the weights have it
  const int64_t together = neighbours(form_), length = ceil_div(shape_.segment_length(), together) * together;
  const auto place = [&](int64_t element) {
    offsets_.push_back(
        static_cast<int32_t>(segments_[static_cast<size_t>(element / length)] + element % length * left_bytes(form_)));
  };
  if (form_ == ByteForm::kQuads) {
    for (const int32_t element : weights->order()) place(element);
  } else {
    for (int64_t element = 0; element < panels().depth; element += together) place(element);
  }
}

void ByteConv::run(Bytes source, int32_t zero, const PackedView& weights, ByteFinish finish, std::byte* scratch) const {
  if (depthwise_) return depthwise_->run(source, zero, weights, finish, scratch);
  finish.stride = shape_.columns;
  auto* start = reinterpret_cast<int32_t*>(scratch);
  if (form_ == ByteForm::kQuads && source_.is_signed) zero += kFlip;
  for (int64_t c = 0; c < shape_.columns; ++c) start[c] = weights.totals ? -zero * weights.totals[c] : 0;
  std::fill_n(start + shape_.columns, kernels_.width, 0);
  parallel_for(shares_, 1, [&](int64_t begin, int64_t end) {
    for (int64_t share = begin; share < end; ++share) {
      std::byte* image = scratch + start_bytes_ + static_cast<size_t>(share) * share_bytes();
      auto** rows = reinterpret_cast<const std::byte**>(image + image_bytes_);
      auto* sums = reinterpret_cast<int32_t*>(image + image_bytes_ + rows_bytes_);
      run_share({source, zero, weights, finish, start, image, rows, sums}, share);
    }
  });
}

void ByteConv::run_share(const Args& args, int64_t share) const {
  const int64_t row_shares = shares_ / column_shares_, row = share / column_shares_, column = share % column_shares_;
  const int64_t begin = units() * column / column_shares_, end = units() * (column + 1) / column_shares_;
  const auto& [depth, height, width] = shape_.axes;
  const int64_t pixel = shape_.channels * left_bytes(form_);
  Args own = args;
  std::byte* result = args.image + image_bytes_ + rows_bytes_ + sums_bytes_;
  if (!result_last_) own.finish.out = result;
  for (int64_t b = blocks() * row / row_shares; b < blocks() * (row + 1) / row_shares; ++b) {
    const Block block = this->block(b);
    const std::byte* first = source_of(own, block);
    for (int64_t i = 0, y = 0; y < block.height; ++y)
      for (int64_t x = 0; x < width.out; ++x, ++i)
        own.rows[i] = first + y * height.stride * line_ + x * width.stride * pixel;
    multiply(own, block, begin, end);
    if (!result_last_) spread(args, block, result, begin, end);
  }
}

ByteConv::Block ByteConv::block(int64_t index) const {
  const int64_t row = index % blocks_of_height_ * height_, plane = index / blocks_of_height_;
  const int64_t height = std::min(height_, shape_.axes[1].out - row), line = shape_.axes[2].out;
  const int64_t first = result_last_ ? (plane * shape_.axes[1].out + row) * line : 0;
  return {plane / shape_.axes[0].out, plane % shape_.axes[0].out, row, height, height * line, first};
}

/// The first tap of the block's first position.
const std::byte* ByteConv::source_of(const Args& args, const Block& block) const {
  const auto& [depth, height, width] = shape_.axes;
  if (direct_) {
    const int64_t row = (block.image * depth.in + block.depth * depth.stride) * height.in + block.row * height.stride;
    return static_cast<const std::byte*>(args.source.data) + row * line_;
  }
  if (form_ == ByteForm::kQuads)
    load(args, block, reinterpret_cast<uint8_t*>(args.image));
  else
    load(args, block, reinterpret_cast<int16_t*>(args.image));
  return args.image;
}

/// Copies the part of the source that the block's positions read. Numbers of 16 bits are less the zero point; padding
/// stands for it.
template <class T>
void ByteConv::load(const Args& args, const Block& block, T* image) const {
  const auto& [depth, height, width] = shape_.axes;
  const int64_t size = sizeof(T);
  for (int64_t d = 0; d < depth.taps; ++d)
    for (int64_t row = 0; row < height.reach(block.height); ++row) {
      if (height.taps == 1 && row % height.stride != 0) continue;  // between positions
      load_row(args, block, block.depth * depth.stride - depth.begin + d * depth.dilation,
               block.row * height.stride - height.begin + row, image + (d * slab_ + row * line_) / size);
    }
}

template <class T>
void ByteConv::load_row(const Args& args, const Block& block, int64_t depth, int64_t row, T* out) const {
  constexpr bool kAsStored = sizeof(T) == 1;
  const auto& [d, h, w] = shape_.axes;
  const int64_t channels = shape_.channels, length = width();
  const T padding = kAsStored ? static_cast<T>(args.zero) : T{0};
  if (depth < 0 || depth >= d.in || row < 0 || row >= h.in) {
    std::fill_n(out, length * channels, padding);
    return;
  }
  const int64_t left = std::min(w.begin, length), count = std::min(w.in, length - left);
  std::fill_n(out, left * channels, padding);
  std::fill_n(out + (left + count) * channels, (length - left - count) * channels, padding);
  out += left * channels;
  const int64_t line = (depth * h.in + row) * w.in, plane = d.in * h.in * w.in;
  if (source_.channels_last) {
    const Bytes from = args.source.at((block.image * plane + line) * channels);
    if constexpr (!kAsStored)
      kernels_.widen(from, count * channels, args.zero, out);
    else if (from.is_signed)
      flip_sign(from.data, out, count * channels);
    else
      std::memcpy(out, from.data, static_cast<size_t>(count * channels));
    return;
  }
  const int32_t zero = !kAsStored ? args.zero : source_.is_signed ? -kFlip : 0;
  const auto scatter = [&]<class From>(const From* in) {
    for (int64_t c = 0; c < channels; ++c, in += plane)
      for (int64_t x = 0; x < count; ++x) out[x * channels + c] = static_cast<T>(in[x] - zero);
  };
  const Bytes from = args.source.at(block.image * channels * plane + line);
  if (from.is_signed)
    scatter(static_cast<const int8_t*>(from.data));
  else
    scatter(static_cast<const uint8_t*>(from.data));
}

/// The panels [begin, end) of all groups for a block.
void ByteConv::multiply(const Args& args, const Block& block, int64_t begin, int64_t end) const {
  const int64_t tiles = ceil_div(block.positions, kernels_.most_rows(form_)), parts = ceil_div(tiles, kTiles);
  const auto rows = [&](int64_t part) { return block.positions * (tiles * part / parts) / tiles; };
  const int64_t units = end - begin;
  for (int64_t i = 0; i < units * parts; ++i) {
    const int64_t part = weights_inside_ ? i / units : i % parts;
    multiply_panel(args, block, begin + (weights_inside_ ? i % units : i / parts), rows(part), rows(part + 1));
  }
}

/// The positions [first, last) of a block, which make no more than kTiles.
void ByteConv::multiply_panel(const Args& args, const Block& block, int64_t unit, int64_t first, int64_t last) const {
  const BytePanels panels = this->panels();
  const int64_t group = unit / panels.count(), panel = unit % panels.count(), width = panels.width_of(panel);
  const int64_t column = group * panels.columns + panel * panels.width, positions = last - first;
  PanelSteps steps{group * panels.elements() + panels.offset_of(panel), 0, 0, panels.depth / neighbours(form_)};
  if (args.weights.panels) steps = args.weights.panels[unit];
  ByteTile tile{};
  tile.offset = group * shape_.group_channels() * left_bytes(form_);
  tile.offsets = (offsets_.empty() ? args.weights.order : offsets_.data()) + steps.first;
  tile.twos = steps.twos;
  tile.ones = steps.ones;
  tile.panel = args.weights.data + steps.weights * weight_bytes(form_);
  tile.start = args.start + column;
  const auto* kernels = kernels_.tile[static_cast<size_t>(form_)][width / kernels_.lanes - 1];
  const int64_t tiles = ceil_div(positions, kernels_.most_rows(form_));
  for (int64_t t = 0; t < tiles; ++t) {
    const int64_t done = positions * t / tiles, rows = positions * (t + 1) / tiles - done;
    tile.rows = args.rows + first + done;
    tile.sums = args.sums + done * width;
    kernels[rows - 1](tile);
  }
  finish(args.finish, args.sums, width, positions, column, panels.columns_of(panel),
         (block.first + first) * shape_.columns + column);
}

/// A block of the result whose channels come last to where ONNX has it.
void ByteConv::spread(const Args& args, const Block& block, const std::byte* result, int64_t begin, int64_t end) const {
  const auto& [depth, height, width] = shape_.axes;
  const int64_t plane = depth.out * height.out * width.out;
  const int64_t place = (block.depth * height.out + block.row) * width.out;
  const BytePanels panels = this->panels();
  const auto column_of = [&](int64_t unit) {
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
