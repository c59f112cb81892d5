// Windows as columns of a matrix.
#include "backends/gpu/device/columns.h"
#include "backends/gpu/device/function.h"
#include "backends/gpu/device/geometry.h"

namespace mlopt::gpu {
namespace {

template <class T>
struct Columns {
  Geometry g;
  Divider by_depth;
  int group;
  const T* in;
  T* out;

  MLOPT_DEVICE void operator()(uint32_t i) const {
    const uint32_t line = g.by_positions.quotient(i), position = i - line * g.by_positions.divisor;
    const uint32_t image = by_depth.quotient(line), k = line - image * by_depth.divisor;
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

/// Four codes that lie side by side in a row.
struct CodeColumns {
  CodeColumnsArgs args;
  Geometry g;
  Divider by_words, by_rows;

  MLOPT_DEVICE uint32_t code(uint32_t k, uint32_t image, const Geometry::Corner& corner) const {
    const uint32_t flip = args.is_signed ? 0 : 0x80;
    if (static_cast<int>(k) >= g.in_channels * g.taps) return 0;
    const uint32_t c = g.by_taps.quotient(k);
    const int at = g.offset(corner, k - c * g.by_taps.divisor);
    const int64_t channel = static_cast<int64_t>(image) * g.args.channels_in + args.group * g.in_channels + c;
    if (at >= 0) return static_cast<const uint8_t*>(args.in)[channel * g.plane + at] ^ flip;
    return (args.zero ? *static_cast<const uint8_t*>(args.zero) : 0u) ^ flip;
  }

  MLOPT_DEVICE void operator()(uint32_t i) const {
    const uint32_t line = by_words.quotient(i), word = i - line * by_words.divisor;
    const uint32_t image = by_rows.quotient(line), position = line - image * by_rows.divisor;
    uint32_t codes = 0;
    if (static_cast<int>(position) < g.positions) {
      const auto corner = g.corner(position);
      for (uint32_t b = 0; b < 4; ++b) codes |= code(word * 4 + b, image, corner) << (8 * b);
    }
    static_cast<uint32_t*>(args.out)[i] = codes;
  }
};

}  // namespace

Status columns(Queue& queue, const ColumnsArgs& args) {
  const Geometry g(args.conv);
  const int depth = g.in_channels * g.taps;
  const auto fill = [&](auto one) {
    using T = decltype(one);
    return for_each(queue, int64_t{args.images} * depth * g.positions,
                    Columns<T>{g, Divider(static_cast<uint32_t>(depth)), args.group, static_cast<const T*>(args.in),
                               static_cast<T*>(args.out)});
  };
  return args.width == 2 ? fill(uint16_t{}) : fill(uint32_t{});
}

Status conv_end(Queue& queue, const ConvEndArgs& args) {
  return by_float(args.type, [&](auto one) { return for_each(queue, args.count, ConvEnd<decltype(one)>{args}); });
}

Status code_columns(Queue& queue, const CodeColumnsArgs& args) {
  const Geometry g(args.conv);
  return for_each(
      queue, int64_t{args.images} * args.rows * (args.pitch / 4),
      CodeColumns{args, g, Divider(static_cast<uint32_t>(args.pitch / 4)), Divider(static_cast<uint32_t>(args.rows))});
}

}  // namespace mlopt::gpu
