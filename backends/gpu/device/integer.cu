// Matrix products and convolutions of 8-bit codes.
#include "backends/gpu/device/codes.h"
#include "backends/gpu/device/geometry.h"
#include "backends/gpu/device/integer.h"

namespace mlopt::gpu {
namespace {

/// A tile of 64 rows by 64 columns, 4 by 4 of them by each thread. `Operands` has the sizes and the numbers.
template <class Operands>
struct Tile {
  static constexpr int kSide = 64, kDepth = 16, kEach = 4, kAcross = kSide / kEach;
  struct Shared {
    int left[kDepth][kSide], right[kDepth][kSide + 1];
  };
  struct Local {
    uint32_t sums[kEach][kEach];  // wrap, as the standard allows
  };
  Operands operands;
  int rows, columns;  ///< of tiles

  MLOPT_DEVICE void load(Shared& shared, int t, int group, int row, int column, int from) const {
    for (int i = t; i < kDepth * kSide; i += kBlock) {
      const int k = from + i % kDepth, m = row + i / kDepth;
      shared.left[i % kDepth][i / kDepth] =
          k < operands.depth() && m < operands.rows() ? operands.left(group, m, k) : 0;
    }
    for (int i = t; i < kDepth * kSide; i += kBlock) {
      const int k = from + i / kSide, n = column + i % kSide;
      shared.right[i / kSide][i % kSide] =
          k < operands.depth() && n < operands.columns() ? operands.right(group, k, n) : 0;
    }
  }

  MLOPT_DEVICE void multiply(const Shared& shared, int t, Local& local) const {
    const int m = t / kAcross * kEach, n = t % kAcross;
#ifdef __CUDACC__
#pragma unroll
#endif
    for (int k = 0; k < kDepth; ++k)
      for (int i = 0; i < kEach; ++i)
        for (int j = 0; j < kEach; ++j)
          local.sums[i][j] += static_cast<uint32_t>(shared.left[k][m + i] * shared.right[k][n + j * kAcross]);
  }

  MLOPT_DEVICE void operator()(Block<Shared, Local>& block) const {
    const int column = block.index % columns * kSide, row = block.index / columns % rows * kSide;
    const int group = block.index / columns / rows;
    block.each([&](int, Local& local) {
      for (auto& line : local.sums)
        for (uint32_t& sum : line) sum = 0;
    });
    for (int from = 0; from < operands.depth(); from += kDepth) {
      block.each([&](int t, Local&) { load(block.shared, t, group, row, column, from); });
      block.each([&](int t, Local& local) { multiply(block.shared, t, local); });
    }
    block.each([&](int t, Local& local) {
      const int m = row + t / kAcross * kEach, n = column + t % kAcross;
      for (int i = 0; i < kEach && m + i < operands.rows(); ++i)
        for (int j = 0; j < kEach && n + j * kAcross < operands.columns(); ++j)
          operands.out()[operands.place(group, m + i, n + j * kAcross)] = static_cast<int32_t>(local.sums[i][j]);
    });
  }
};

struct Matrices {
  IntegerProductArgs args;

  MLOPT_DEVICE int rows() const { return static_cast<int>(args.m); }
  MLOPT_DEVICE int columns() const { return static_cast<int>(args.n); }
  MLOPT_DEVICE int depth() const { return static_cast<int>(args.k); }
  MLOPT_DEVICE int32_t* out() const { return args.out; }
  /// Which matrix of operand `i` a batch reads.
  MLOPT_DEVICE int64_t matrix(int batch, int i) const {
    int32_t at[2];
    args.batches.locate(static_cast<uint32_t>(batch), at);
    return at[i];
  }
  MLOPT_DEVICE int left(int batch, int m, int k) const {
    const int64_t first = matrix(batch, 0) * args.m * args.k;
    return args.a.at(first + (args.a_transposed ? k * args.m + m : m * args.k + k), m);
  }
  MLOPT_DEVICE int right(int batch, int k, int n) const {
    const int64_t first = matrix(batch, 1) * args.k * args.n;
    return args.x.at(first + (args.x_transposed ? n * args.k + k : k * args.n + n), n);
  }
  MLOPT_DEVICE int64_t place(int batch, int m, int n) const { return (batch * args.m + m) * args.n + n; }
};

struct Filters {
  Geometry g;
  CodeArray x, weights;
  int32_t* to;

  MLOPT_DEVICE int rows() const { return g.out_channels; }
  MLOPT_DEVICE int columns() const { return g.args.batch * g.positions; }
  MLOPT_DEVICE int depth() const { return g.in_channels * g.taps; }
  MLOPT_DEVICE int32_t* out() const { return to; }
  MLOPT_DEVICE int left(int group, int m, int k) const {
    const int64_t channel = group * g.out_channels + m;
    return weights.at(channel * depth() + k, channel);
  }
  MLOPT_DEVICE int right(int group, int k, int n) const {
    const uint32_t image = g.by_positions.quotient(static_cast<uint32_t>(n));
    const auto corner = g.corner(static_cast<uint32_t>(n) - image * g.by_positions.divisor);
    const uint32_t c = g.by_taps.quotient(static_cast<uint32_t>(k));
    const int at = g.offset(corner, static_cast<uint32_t>(k) - c * g.by_taps.divisor);
    const int64_t channel = static_cast<int64_t>(image) * g.args.channels_in + group * g.in_channels + c;
    return at < 0 ? 0 : x.at(channel * g.plane + at, 0);
  }
  MLOPT_DEVICE int64_t place(int group, int m, int n) const {
    const uint32_t image = g.by_positions.quotient(static_cast<uint32_t>(n));
    const int64_t channel = static_cast<int64_t>(image) * g.args.channels_out + group * g.out_channels + m;
    return channel * g.positions + (static_cast<uint32_t>(n) - image * g.by_positions.divisor);
  }
};

struct Packed {
  CodesProductArgs args;

  MLOPT_DEVICE int rows() const { return static_cast<int>(args.m); }
  MLOPT_DEVICE int columns() const { return static_cast<int>(args.n); }
  MLOPT_DEVICE int depth() const { return static_cast<int>(args.k); }
  MLOPT_DEVICE int32_t* out() const { return args.out; }
  MLOPT_DEVICE int left(int batch, int m, int k) const {
    return static_cast<const int8_t*>(args.a)[batch * args.a_stride + m * args.k + k];
  }
  MLOPT_DEVICE int right(int batch, int k, int n) const {
    return static_cast<const int8_t*>(args.x)[batch * args.x_stride + n * args.k + k];
  }
  MLOPT_DEVICE int64_t place(int batch, int m, int n) const { return batch * args.out_stride + m * args.n + n; }
};

/// Four codes that lie side by side in a row.
struct PackCodes {
  PackCodesArgs args;
  Divider by_words;

  MLOPT_DEVICE void operator()(uint32_t i) const {
    const uint32_t row = by_words.quotient(i), first = (i - row * by_words.divisor) * 4;
    const uint8_t* in = static_cast<const uint8_t*>(args.in) + row * args.length;
    uint32_t codes = 0;
    for (uint32_t b = 0; b < 4; ++b)
      if (first + b < args.length) codes |= (in[first + b] ^ (args.is_signed ? 0u : 0x80u)) << (8 * b);
    static_cast<uint32_t*>(args.out)[i] = codes;
  }
};

struct PlainSums {
  PlainSumsArgs args;

  MLOPT_DEVICE void operator()(uint32_t i) const {
    const uint32_t line = args.inner.quotient(i);
    args.out[i] = args.sums.at(i, line - args.length.quotient(line) * args.length.divisor);
  }
};

/// One output of a convolution: for groups of few channels, of which tiles would compute little.
struct Alone {
  Filters filters;
  Divider by_channels;

  MLOPT_DEVICE void operator()(uint32_t i) const {
    const Geometry& g = filters.g;
    const uint32_t plane = g.by_positions.quotient(i), position = i - plane * g.by_positions.divisor;
    const uint32_t image = by_channels.quotient(plane);
    const int channel = static_cast<int>(plane - image * by_channels.divisor), group = channel / g.out_channels;
    const auto corner = g.corner(position);
    const int64_t first = static_cast<int64_t>(image) * g.args.channels_in + group * g.in_channels;
    uint32_t sum = 0;
    for (int tap = 0; tap < g.taps; ++tap) {
      const int at = g.offset(corner, static_cast<uint32_t>(tap));
      if (at < 0) continue;
      for (int c = 0; c < g.in_channels; ++c)
        sum += static_cast<uint32_t>(
            filters.x.at((first + c) * g.plane + at, 0) *
            filters.weights.at((static_cast<int64_t>(channel) * g.in_channels + c) * g.taps + tap, channel));
    }
    filters.to[i] = static_cast<int32_t>(sum);
  }
};

template <class Operands>
Status in_tiles(Queue& queue, int64_t groups, int64_t m, int64_t n, const Operands& operands) {
  constexpr int kSide = Tile<Operands>::kSide;
  const auto tiles = [](int64_t count) { return static_cast<int>((count + kSide - 1) / kSide); };
  return for_blocks<kBlock>(queue, groups * tiles(m) * tiles(n), Tile<Operands>{operands, tiles(m), tiles(n)});
}

struct Requantize {
  RequantizeArgs args;

  MLOPT_DEVICE void operator()(uint32_t i) const {
    const uint32_t line = args.inner.quotient(i), c = line - args.length.quotient(line) * args.length.divisor;
    const float factor = float_at(args.scale_type, args.a_scale, 0) *
                         float_at(args.scale_type, args.b_scale, args.each ? c : 0) /
                         float_at(args.scale_type, args.y_scale, 0);
    const float scaled = static_cast<float>(int64_t{args.sums.at(i, c)} + (args.bias ? args.bias[c] : 0)) * factor;
    static_cast<uint8_t*>(args.out)[i] =
        byte_of(args.codes.is_signed, scaled, static_cast<int>(code_at(args.codes, args.zero, 0)));
  }
};

template <class T>
struct Rescale {
  RescaleArgs args;

  MLOPT_DEVICE static float at(const void* from, uint32_t i) { return widen(static_cast<const T*>(from)[i]); }
  MLOPT_DEVICE void operator()(uint32_t i) const {
    const uint32_t c = i - args.columns.quotient(i) * args.columns.divisor;
    const float scaled = static_cast<float>(int64_t{args.sums.at(i, c)} + (args.steps ? args.steps[c] : 0)) *
                         at(args.a_scale, args.a_each ? c : 0) * at(args.b_scale, args.b_each ? c : 0);
    static_cast<T*>(args.out)[i] = narrow<T>(args.bias ? scaled + at(args.bias, c) : scaled);
  }
};

}  // namespace

Status integer_product(Queue& queue, const IntegerProductArgs& args) {
  return in_tiles(queue, args.batches.count, args.m, args.n, Matrices{args});
}

Status integer_conv(Queue& queue, const IntegerConvArgs& args) {
  const Geometry g(args.conv);
  if (g.out_channels < 16)
    return for_each(queue, int64_t{args.conv.batch} * args.conv.channels_out * g.positions,
                    Alone{{g, args.x, args.weights, args.out}, Divider(args.conv.channels_out)});
  return in_tiles(queue, args.conv.groups, g.out_channels, int64_t{args.conv.batch} * g.positions,
                  Filters{g, args.x, args.weights, args.out});
}

Status pack_codes(Queue& queue, const PackCodesArgs& args) {
  const int words = args.pitch / 4;
  return for_each(queue, args.rows * words, PackCodes{args, Divider(words)});
}

Status codes_product_in_tiles(Queue& queue, const CodesProductArgs& args) {
  return in_tiles(queue, args.batch, args.m, args.n, Packed{args});
}

Status plain_sums(Queue& queue, const PlainSumsArgs& args) { return for_each(queue, args.count, PlainSums{args}); }

Status requantize(Queue& queue, const RequantizeArgs& args) { return for_each(queue, args.count, Requantize{args}); }

Status rescale(Queue& queue, const RescaleArgs& args) {
  return by_float(args.type, [&](auto one) { return for_each(queue, args.count, Rescale<decltype(one)>{args}); });
}

}  // namespace mlopt::gpu
