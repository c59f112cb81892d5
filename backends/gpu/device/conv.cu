// Convolutions over one to three spatial axes: as a matrix product whose right operand is read where it lies, and one
// thread an output where a group has few channels.
#include "backends/gpu/device/function.h"
#include "backends/gpu/device/geometry.h"
#include "backends/gpu/device/kernels.h"

namespace mlopt::gpu {
namespace {

template <class T>
MLOPT_DEVICE void store(const ConvArgs& args, int64_t where, int channel, float sum) {
  if (args.bias) sum += widen(static_cast<const T*>(args.bias)[channel]);
  if (args.addend) sum += widen(static_cast<const T*>(args.addend)[where]);
  static_cast<T*>(args.out)[where] = narrow<T>(apply(args.act, sum));
}

/// One output.
template <class T>
struct Direct {
  Geometry g;
  Divider by_channels;

  MLOPT_DEVICE void operator()(uint32_t i) const {
    const uint32_t plane = g.by_positions.quotient(i), position = i - plane * g.by_positions.divisor;
    const uint32_t n = by_channels.quotient(plane);
    const int channel = static_cast<int>(plane - n * by_channels.divisor), group = channel / g.out_channels;
    const T* x = static_cast<const T*>(g.args.in) +
                 (static_cast<int64_t>(n) * g.args.channels_in + group * g.in_channels) * g.plane;
    const T* w = static_cast<const T*>(g.args.weights) + static_cast<int64_t>(channel) * g.in_channels * g.taps;
    const auto corner = g.corner(position);
    float sum = 0;
    for (int tap = 0; tap < g.taps; ++tap) {
      const int at = g.offset(corner, static_cast<uint32_t>(tap));
      if (at < 0) continue;
      for (int c = 0; c < g.in_channels; ++c)
        sum += widen(x[static_cast<int64_t>(c) * g.plane + at]) * widen(w[c * g.taps + tap]);
    }
    store<T>(g.args, i, channel, sum);
  }
};

/// One output where channels come last, which threads side by side read and write side by side.
template <class T>
struct DirectLast {
  Geometry g;
  Divider by_channels;

  MLOPT_DEVICE void operator()(uint32_t i) const {
    const uint32_t place = by_channels.quotient(i), n = g.by_positions.quotient(place);
    const int channel = static_cast<int>(i - place * by_channels.divisor), group = channel / g.out_channels;
    const auto corner = g.corner(place - n * g.by_positions.divisor);
    const T* x = static_cast<const T*>(g.args.in) + static_cast<int64_t>(n) * g.plane * g.args.channels_in +
                 group * g.in_channels;
    const T* w = static_cast<const T*>(g.args.weights) + static_cast<int64_t>(channel) * g.taps * g.in_channels;
    float sum = 0;
    for (int tap = 0; tap < g.taps; ++tap) {
      const int at = g.offset(corner, static_cast<uint32_t>(tap));
      if (at < 0) continue;
      for (int c = 0; c < g.in_channels; ++c)
        sum += widen(x[static_cast<int64_t>(at) * g.args.channels_in + c]) * widen(w[tap * g.in_channels + c]);
    }
    store<T>(g.args, i, channel, sum);
  }
};

/// A tile of 64 output channels by 64 positions, 4 by 4 of them by each thread.
template <class T>
struct Tile {
  static constexpr int kSide = 64, kDepth = 16, kEach = 4, kAcross = kSide / kEach;
  struct Shared {
    float left[kDepth][kSide], right[kDepth][kSide + 1];
  };
  struct Local {
    float sums[kEach][kEach];
  };
  Geometry g;
  int rows, columns;  ///< of tiles

  MLOPT_DEVICE int depth() const { return g.in_channels * g.taps; }

  MLOPT_DEVICE void load(Shared& shared, int t, int group, int row, int column, int from) const {
    const T* weights = static_cast<const T*>(g.args.weights);
    for (int i = t; i < kDepth * kSide; i += kBlock) {
      const int k = i % kDepth, m = i / kDepth;
      const bool inside = from + k < depth() && row + m < g.out_channels;
      shared.left[k][m] =
          inside ? widen(weights[static_cast<int64_t>(group * g.out_channels + row + m) * depth() + from + k]) : 0;
    }
    const int n = t % kSide;  // the same position for all that a thread loads
    const auto where = static_cast<uint32_t>(column + n);
    const bool some = static_cast<int>(where) < g.args.batch * g.positions;
    const uint32_t image = g.by_positions.quotient(where);
    const auto corner = g.corner(where - image * g.by_positions.divisor);
    const T* x = static_cast<const T*>(g.args.in) +
                 (static_cast<int64_t>(image) * g.args.channels_in + group * g.in_channels) * g.plane;
    for (int k = t / kSide; k < kDepth; k += kBlock / kSide) {
      const auto which = static_cast<uint32_t>(from + k);
      const uint32_t c = g.by_taps.quotient(which);
      const int at = some && from + k < depth() ? g.offset(corner, which - c * g.by_taps.divisor) : -1;
      shared.right[k][n] = at < 0 ? 0 : widen(x[static_cast<int64_t>(c) * g.plane + at]);
    }
  }

  MLOPT_DEVICE void multiply(const Shared& shared, int t, Local& local) const {
    const int m = t / kAcross * kEach, n = t % kAcross;
#ifdef __CUDACC__
#pragma unroll
#endif
    for (int k = 0; k < kDepth; ++k) {
      float left[kEach], right[kEach];
      for (int i = 0; i < kEach; ++i) left[i] = shared.left[k][m + i];
      for (int j = 0; j < kEach; ++j) right[j] = shared.right[k][n + j * kAcross];
      for (int i = 0; i < kEach; ++i)
        for (int j = 0; j < kEach; ++j) local.sums[i][j] += left[i] * right[j];
    }
  }

  MLOPT_DEVICE void finish(int t, const Local& local, int group, int row, int column) const {
    const int m = row + t / kAcross * kEach, n = column + t % kAcross;
    for (int j = 0; j < kEach; ++j) {
      const int where = n + j * kAcross;
      if (where >= g.args.batch * g.positions) continue;
      const uint32_t image = g.by_positions.quotient(static_cast<uint32_t>(where));
      const auto position = static_cast<int64_t>(static_cast<uint32_t>(where) - image * g.by_positions.divisor);
      for (int i = 0; i < kEach && m + i < g.out_channels; ++i) {
        const int channel = group * g.out_channels + m + i;
        store<T>(g.args, (static_cast<int64_t>(image) * g.args.channels_out + channel) * g.positions + position,
                 channel, local.sums[i][j]);
      }
    }
  }

  MLOPT_DEVICE void operator()(Block<Shared, Local>& block) const {
    const int column = block.index % columns * kSide, row = block.index / columns % rows * kSide;
    const int group = block.index / columns / rows;
    block.each([&](int, Local& local) {
      for (auto& line : local.sums)
        for (float& sum : line) sum = 0;
    });
    for (int from = 0; from < depth(); from += kDepth) {
      block.each([&](int t, Local&) { load(block.shared, t, group, row, column, from); });
      block.each([&](int t, Local& local) { multiply(block.shared, t, local); });
    }
    block.each([&](int t, Local& local) { finish(t, local, group, row, column); });
  }
};

/// One output of a transposed convolution: the inputs whose windows hold it.
template <class T>
struct Transposed {
  Geometry g;  ///< of the convolution that goes the other way: its input is what is made here
  Divider by_plane, by_channels, by_row, by_column;

  MLOPT_DEVICE void operator()(uint32_t i) const {
    const Windows& w = g.args.windows;
    const uint32_t plane = by_plane.quotient(i), position = i - plane * by_plane.divisor;
    const uint32_t n = by_channels.quotient(plane);
    const int channel = static_cast<int>(plane - n * by_channels.divisor), group = channel / g.out_channels;
    const uint32_t d = by_row.quotient(position), rest = position - d * by_row.divisor;
    const uint32_t h = by_column.quotient(rest);
    const int at[3] = {static_cast<int>(d), static_cast<int>(h), static_cast<int>(rest - h * by_column.divisor)};
    float sum = 0;
    for (int tap = 0; tap < g.taps; ++tap) {
      const int taps[3] = {tap / (w.kernel[1] * w.kernel[2]), tap / w.kernel[2] % w.kernel[1], tap % w.kernel[2]};
      int from[3];
      bool reads = true;
      for (int k = 0; k < 3; ++k) {
        const int moved = at[k] + w.before[k] - taps[k] * w.dilation[k];
        from[k] = moved / w.stride[k];
        reads = reads && moved >= 0 && moved % w.stride[k] == 0 && from[k] < w.out[k];
      }
      if (!reads) continue;
      const int64_t where = (static_cast<int64_t>(from[0]) * w.out[1] + from[1]) * w.out[2] + from[2];
      for (int c = 0; c < g.in_channels; ++c) {
        const int64_t source = group * g.in_channels + c;
        sum +=
            widen(static_cast<const T*>(g.args.in)[(n * int64_t{g.args.channels_in} + source) * g.positions + where]) *
            widen(static_cast<const T*>(
                g.args.weights)[(source * g.out_channels + channel % g.out_channels) * g.taps + tap]);
      }
    }
    store<T>(g.args, i, channel, sum);
  }
};

}  // namespace

Status conv(Queue& queue, const ConvArgs& args) {
  const Geometry g(args);
  const int64_t outputs = int64_t{args.batch} * g.positions;
  return by_float(args.type, [&](auto one) -> Status {
    using T = decltype(one);
    const Divider by_channels(args.channels_out);
    if (args.channels_last) return for_each(queue, outputs * args.channels_out, DirectLast<T>{g, by_channels});
    if (g.out_channels < 16 || g.in_channels * g.taps < 16)
      return for_each(queue, outputs * args.channels_out, Direct<T>{g, by_channels});
    constexpr int kSide = Tile<T>::kSide;
    const int rows = (g.out_channels + kSide - 1) / kSide, columns = static_cast<int>((outputs + kSide - 1) / kSide);
    return for_blocks<kBlock>(queue, int64_t{rows} * columns * args.groups, Tile<T>{g, rows, columns});
  });
}

Status conv_transpose(Queue& queue, const ConvArgs& args) {
  const Geometry g(args);
  const Windows& w = args.windows;
  return by_float(args.type, [&](auto one) {
    return for_each(queue, int64_t{args.batch} * args.channels_out * g.plane,
                    Transposed<decltype(one)>{g, Divider(g.plane), Divider(args.channels_out),
                                              Divider(w.in[1] * w.in[2]), Divider(w.in[2])});
  });
}

}  // namespace mlopt::gpu
