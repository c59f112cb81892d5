#include "backends/cpu/byte_depthwise.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "core/base/align.h"
#include "core/base/parallel.h"

namespace mlopt::cpu {

/// Of one run, then of one worker of it.
struct ByteDepthwise::Args {
  Bytes source;
  int32_t zero;
  PackedView weights;
  ByteFinish finish;
  const int32_t* start;    ///< of the sums of each channel
  uint8_t* row;            ///< a pixel of padding; then [width][channels] as stored, where it is not read directly
  int32_t* ring;           ///< [tap of the depth][slot][pair of the width][channels]: pairs of 16 bits
  const std::byte** taps;  ///< where the pairs of taps of a row's first position lie
  int32_t* sums;           ///< [position][channels]
  std::byte* result;       ///< a row, where channels do not come last
};

/// Rows [row, last) of one plane of the result, for a few columns and channels.
struct ByteDepthwise::Part {
  int64_t image, depth, row, last, column, positions;
  int64_t channel, channels, padded;  ///< padded: to whole vectors
};

ByteDepthwise::ByteDepthwise(const ByteShape& shape, ByteSource source, bool result_channels_last, int threads)
    : shape_(shape), source_(source), result_last_(result_channels_last), kernels_(byte_kernels()) {
  const auto& [depth, height, width] = shape_.axes;
  step_ = width.taps > 2 ? std::gcd(width.stride, 2 * width.dilation) : width.stride;
  slots_ = height.reach(1);
  divide(threads);
  const auto bytes = [](int64_t count, size_t size) { return aligned_size(static_cast<size_t>(count) * size); };
  start_bytes_ = bytes(padded_channels(shape_, kernels_), sizeof(int32_t));
  row_bytes_ = bytes((pairs(positions_) * step_ + width.dilation + 1) * channels_, 1);
  ring_bytes_ = bytes(depth.taps * slots_ * pairs(positions_) * channels_, sizeof(int32_t));
  taps_bytes_ = bytes(depthwise_pairs(shape_), sizeof(std::byte*));
  sums_bytes_ = bytes(positions_ * channels_ + ByteFinish::kSlack, sizeof(int32_t));
  if (!result_last_) result_bytes_ = bytes(positions_ * channels_, sizeof(int32_t));
}

/// Into parts whose rows the first cache holds.
void ByteDepthwise::divide(int threads) {
  const auto& [depth, height, width] = shape_.axes;
  constexpr int64_t kChannels = 64, kCached = 20 << 10, kLeast = 4;
  constexpr int64_t kMacs = 1 << 15;  // below which another part costs more than it brings
  constexpr int64_t kTurns = 4;       // parts for each thread, for cores are not equally fast
  const auto evenly = [](int64_t count, int64_t most) { return ceil_div(count, ceil_div(count, most)); };
  const int64_t block = 2 * kernels_.lanes;
  channels_ = ceil_div(evenly(shape_.channels, std::max(block, kChannels)), block) * block;
  const int64_t held = kCached / (depth.taps * slots_ * channels_ * static_cast<int64_t>(sizeof(int32_t)));
  const int64_t fitting = (held - pairs(1)) * step_ / width.stride + 1;
  positions_ = evenly(width.out, std::clamp(fitting, std::min(kLeast, width.out), width.out));

  const int64_t worth = shape_.images * depth.out * height.out * width.out * shape_.channels * shape_.taps() / kMacs;
  workers_ = std::clamp<int64_t>(worth, 1, threads);
  height_ = height.out;
  const int64_t wanted = workers_ == 1 ? 1 : std::min(worth, kTurns * workers_);
  height_ = ceil_div(height.out, std::clamp<int64_t>(ceil_div(wanted, parts()), 1, height.out));
  workers_ = std::min(workers_, parts());
}

int64_t ByteDepthwise::pairs(int64_t positions) const {
  const ByteShape::Axis& width = shape_.axes[2];
  return ((positions - 1) * width.stride + (width.taps - 1) / 2 * 2 * width.dilation) / step_ + 1;
}

void ByteDepthwise::run(Bytes source, int32_t zero, const PackedView& weights, ByteFinish finish,
                        std::byte* scratch) const {
  finish.stride = result_last_ ? shape_.columns : channels_;
  auto* start = reinterpret_cast<int32_t*>(scratch);
  std::fill_n(start, padded_channels(shape_, kernels_), 0);
  for (int64_t c = 0; c < shape_.columns; ++c) start[c] = -zero * weights.totals[c];
  take_turns(workers_, parts(), [&](int64_t worker, int64_t i) {
    std::byte* row = scratch + start_bytes_ + static_cast<size_t>(worker) * worker_bytes();
    std::byte *ring = row + row_bytes_, *taps = ring + ring_bytes_, *sums = taps + taps_bytes_;
    run_part({source, zero, weights, finish, start, reinterpret_cast<uint8_t*>(row), reinterpret_cast<int32_t*>(ring),
              reinterpret_cast<const std::byte**>(taps), reinterpret_cast<int32_t*>(sums), sums + sums_bytes_},
             part(i));
  });
}

/// Parts of the same rows and columns follow each other: they read the same lines of memory.
ByteDepthwise::Part ByteDepthwise::part(int64_t index) const {
  const auto next = [&](int64_t count) {
    const int64_t i = index % count;
    index /= count;
    return i;
  };
  Part p{};
  p.channel = next(channel_parts()) * channels_;
  p.column = next(width_parts()) * positions_;
  p.row = next(height_parts()) * height_;
  p.depth = next(shape_.axes[0].out);
  p.image = index;
  p.last = std::min(p.row + height_, shape_.axes[1].out);
  p.positions = std::min(positions_, shape_.axes[2].out - p.column);
  p.channels = std::min(channels_, shape_.channels - p.channel);
  p.padded = ceil_div(p.channels, int64_t{kernels_.lanes}) * kernels_.lanes;
  return p;
}

void ByteDepthwise::run_part(const Args& args, const Part& part) const {
  const auto& [depth, height, width] = shape_.axes;
  std::fill_n(args.row, part.padded, static_cast<uint8_t>(args.zero));
  int64_t next = 0;  // the first row, padding included, that is not in the ring
  for (int64_t y = part.row; y < part.last; ++y) {
    const int64_t first = y * height.stride;
    for (next = std::max(next, first); next < first + slots_; ++next)
      for (int64_t tap = 0; tap < depth.taps; ++tap) load_row(args, part, tap, next);
    convolve_row(args, part, y);
    if (!result_last_) spread(args, part, y);
  }
}

int32_t* ByteDepthwise::slot(const Args& args, const Part& part, int64_t depth_tap, int64_t row) const {
  return args.ring + (depth_tap * slots_ + row % slots_) * pairs(part.positions) * part.padded;
}

/// Numbers of a row of the source, each with the one that the next tap meets.
void ByteDepthwise::load_row(const Args& args, const Part& part, int64_t depth_tap, int64_t row) const {
  const auto& [d, h, w] = shape_.axes;
  const int64_t depth = part.depth * d.stride - d.begin + depth_tap * d.dilation, line = row - h.begin;
  const int64_t count = pairs(part.positions), first = part.column * w.stride - w.begin;
  int32_t* out = slot(args, part, depth_tap, row);
  const bool is_padding = depth < 0 || depth >= d.in || line < 0 || line >= h.in;
  const int64_t before = ((part.image * d.in + depth) * h.in + line) * w.in, all = shape_.images * d.in * h.in * w.in;
  // Whole vectors of channels may take in some of the next pixel, where there is one.
  const bool is_direct = source_.channels_last && (part.channels == part.padded || before + w.in < all);
  if (!is_padding && !is_direct) {
    fetch(args, part, depth, line);
    const uint8_t* from = args.row + part.padded;
    return kernels_.pair_up(
        {from, from + w.dilation * part.padded, source_.is_signed, step_ * part.padded, count, part.padded, out});
  }
  const int64_t pixels = is_padding ? 0 : w.in;
  const auto* source = static_cast<const uint8_t*>(args.source.data) + before * shape_.channels + part.channel;
  const auto pixel = [&](int64_t x) { return x >= 0 && x < pixels ? source + x * shape_.channels : args.row; };
  const auto is_inside = [&, reach = w.dilation](int64_t i) {
    return first + i * step_ >= 0 && first + i * step_ + reach < pixels;
  };
  for (int64_t i = 0, together; i < count; i += together) {
    for (together = 1; is_inside(i) && i + together < count && is_inside(i + together);) ++together;
    const int64_t x = first + i * step_;
    kernels_.pair_up({pixel(x), pixel(x + w.dilation), source_.is_signed, step_ * shape_.channels, together,
                      part.padded, out + i * part.padded});
  }
}

/// A part of a row of the source, with padding, to where its channels are neighbours.
void ByteDepthwise::fetch(const Args& args, const Part& part, int64_t depth, int64_t row) const {
  const auto& [d, h, w] = shape_.axes;
  const int64_t first = part.column * w.stride - w.begin, line = (depth * h.in + row) * w.in;
  const int64_t length = (pairs(part.positions) - 1) * step_ + w.dilation + 1, plane = d.in * h.in * w.in;
  const int64_t begin = std::clamp<int64_t>(-first, 0, length), end = std::clamp<int64_t>(w.in - first, begin, length);
  uint8_t* out = args.row + part.padded;
  const auto padding = static_cast<uint8_t>(args.zero);
  std::fill_n(out, begin * part.padded, padding);
  std::fill_n(out + end * part.padded, (length - end) * part.padded, padding);
  const auto* source = static_cast<const uint8_t*>(args.source.data);
  const uint8_t* in = source_.channels_last
                          ? source + (part.image * plane + line + first) * shape_.channels + part.channel
                          : source + (part.image * shape_.channels + part.channel) * plane + line + first;
  if (source_.channels_last)
    for (int64_t x = begin; x < end; ++x)
      std::memcpy(out + x * part.padded, in + x * shape_.channels, static_cast<size_t>(part.channels));
  else
    for (int64_t c = 0; c < part.channels; ++c)
      for (int64_t x = begin; x < end; ++x) out[x * part.padded + c] = in[c * plane + x];
}

void ByteDepthwise::convolve_row(const Args& args, const Part& part, int64_t row) const {
  const auto& [depth, height, width] = shape_.axes;
  const std::byte** taps = args.taps;
  for (int64_t d = 0; d < depth.taps; ++d)
    for (int64_t h = 0; h < height.taps; ++h)
      for (int64_t w = 0; w < width.taps; w += 2)
        *taps++ = reinterpret_cast<const std::byte*>(slot(args, part, d, row * height.stride + h * height.dilation) +
                                                     w * width.dilation / step_ * part.padded);
  const int64_t taps_count = depthwise_pairs(shape_), step = width.stride / step_ * part.padded;
  kernels_.depthwise({args.taps, taps_count, part.positions, step * static_cast<int64_t>(sizeof(int32_t)),
                      part.padded / kernels_.lanes,
                      reinterpret_cast<const int16_t*>(args.weights.data) + part.channel * taps_count * 2,
                      args.start + part.channel, args.sums});
  const int64_t line = (part.image * depth.out + part.depth) * height.out + row;
  ByteFinish own = args.finish;
  if (!result_last_) own.out = args.result;
  finish(own, args.sums, part.padded, part.positions, part.channel, part.channels,
         result_last_ ? (line * width.out + part.column) * shape_.columns + part.channel : 0);
}

/// A row of the result to where ONNX has it.
void ByteDepthwise::spread(const Args& args, const Part& part, int64_t row) const {
  const auto copy = [&, &axes = shape_.axes]<class T>(const T* from, T* to) {
    for (int64_t c = 0; c < part.channels; ++c) {
      const int64_t plane = (part.image * shape_.columns + part.channel + c) * axes[0].out + part.depth;
      T* at = to + (plane * axes[1].out + row) * axes[2].out + part.column;
      for (int64_t x = 0; x < part.positions; ++x) at[x] = from[x * channels_ + c];
    }
  };
  if (args.finish.element_bytes() == 1)
    copy(reinterpret_cast<const uint8_t*>(args.result), static_cast<uint8_t*>(args.finish.out));
  else
    copy(reinterpret_cast<const uint32_t*>(args.result), static_cast<uint32_t*>(args.finish.out));
}

}  // namespace mlopt::cpu
