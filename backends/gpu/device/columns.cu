// Windows as columns of a matrix.
#include "backends/gpu/device/columns.h"
#include "backends/gpu/device/function.h"
#include "backends/gpu/device/geometry.h"

namespace mlopt::gpu {
namespace {

template <class T>
struct Columns {
  Geometry g;
  Divider by_lines;  ///< lines of an image, or images of a line where they lie across
  int group;
  bool across;
  const T* in;
  T* out;

  MLOPT_DEVICE void operator()(uint32_t i) const {
    const uint32_t line = g.by_positions.quotient(i), position = i - line * g.by_positions.divisor;
    const uint32_t first = by_lines.quotient(line), second = line - first * by_lines.divisor;
    const uint32_t image = across ? second : first, k = across ? first : second;
    const uint32_t c = g.by_taps.quotient(k);
    const int at = g.offset(g.corner(position), k - c * g.by_taps.divisor);
    const int64_t channel = static_cast<int64_t>(image) * g.args.channels_in + group * g.in_channels + c;
    out[i] = at < 0 ? T{} : in[channel * g.plane + at];
  }
};

template <class T>
struct ConvEnd {
  ConvEndArgs args;

  MLOPT_DEVICE void operator()(uint32_t i) const {
    const uint32_t plane = args.positions.quotient(i);
    const uint32_t channel = plane - args.channels.quotient(plane) * args.channels.divisor;
    T& out = static_cast<T*>(args.out)[i];
    float sum = widen(out);
    if (args.bias) sum += widen(static_cast<const T*>(args.bias)[channel]);
    if (args.addend) sum += widen(static_cast<const T*>(args.addend)[i]);
    out = narrow<T>(apply(args.act, sum));
  }
};

/// A tile of kSide positions by kSide numbers of their windows: read along the positions, as pictures lie, and written
/// along the windows.
struct CodeColumns {
  static constexpr int kSide = 64, kWords = kSide / 4;
  struct Shared {
    uint8_t codes[kSide][kSide + 4];  // rows begin in other banks
  };
  struct Local {};
  CodeColumnsArgs args;
  Geometry g;
  int across, down;  ///< tiles of a picture's rows and columns

  MLOPT_DEVICE uint32_t flip() const { return args.is_signed ? 0 : 0x80; }

  MLOPT_DEVICE uint8_t code(int64_t image, int k, bool some, const Geometry::Corner& corner) const {
    if (!some || k >= g.in_channels * g.taps) return 0;
    const uint32_t c = g.by_taps.quotient(static_cast<uint32_t>(k));
    const int at = g.offset(corner, static_cast<uint32_t>(k) - c * g.by_taps.divisor);
    const int64_t channel = image * g.args.channels_in + args.group * g.in_channels + c;
    const uint32_t beside = args.zero ? *static_cast<const uint8_t*>(args.zero) : 0u;
    const uint32_t found = at >= 0 ? static_cast<const uint8_t*>(args.in)[channel * g.plane + at] : beside;
    return static_cast<uint8_t>(found ^ flip());
  }

  MLOPT_DEVICE void operator()(Block<Shared, Local>& block) const {
    const int first_k = block.index % across * kSide, first = block.index / across % down * kSide;
    const int64_t image = block.index / across / down;
    block.each([&](int t, Local&) {
      const int p = t % kSide, position = first + p;  // the same for all that a thread reads
      const bool some = position < g.positions;
      const auto corner = g.corner(static_cast<uint32_t>(some ? position : 0));
      for (int k = t / kSide; k < kSide; k += kBlock / kSide)
        block.shared.codes[p][k] = code(image, first_k + k, some, corner);
    });
    block.each([&](int t, Local&) {
      for (int i = t; i < kSide * kWords; i += kBlock) {
        const int p = i / kWords, k = i % kWords * 4;
        if (first + p >= args.rows || first_k + k >= args.pitch) continue;
        const uint8_t* from = block.shared.codes[p] + k;
        const uint32_t word = static_cast<uint32_t>(from[0]) | static_cast<uint32_t>(from[1]) << 8 |
                              static_cast<uint32_t>(from[2]) << 16 | static_cast<uint32_t>(from[3]) << 24;
        static_cast<uint32_t*>(args.out)[((image * args.rows + first + p) * args.pitch + first_k + k) / 4] = word;
      }
    });
  }
};

}  // namespace

Status columns(Queue& queue, const ColumnsArgs& args) {
  const Geometry g(args.conv);
  const int depth = g.in_channels * g.taps;
  const auto fill = [&](auto one) {
    using T = decltype(one);
    return for_each(queue, int64_t{args.images} * depth * g.positions,
                    Columns<T>{g, Divider(args.across ? args.images : depth), args.group, args.across,
                               static_cast<const T*>(args.in), static_cast<T*>(args.out)});
  };
  return args.width == 2 ? fill(uint16_t{}) : fill(uint32_t{});
}

Status conv_end(Queue& queue, const ConvEndArgs& args) {
  return by_float(args.type, [&](auto one) { return for_each(queue, args.count, ConvEnd<decltype(one)>{args}); });
}

Status code_columns(Queue& queue, const CodeColumnsArgs& args) {
  constexpr int kSide = CodeColumns::kSide;
  const int across = (args.pitch + kSide - 1) / kSide, down = (args.rows + kSide - 1) / kSide;
  return for_blocks<kBlock>(queue, int64_t{args.images} * down * across,
                            CodeColumns{args, Geometry(args.conv), across, down});
}

}  // namespace mlopt::gpu
