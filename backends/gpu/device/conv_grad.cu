// Gradients of convolutions that are no products: of the weights, a block of threads for each number; of the input,
// what products of columns have made put together.
#include "backends/gpu/device/geometry.h"
#include "backends/gpu/device/gradients.h"

namespace mlopt::gpu {
namespace {

template <class T>
struct ConvGrad {
  struct Shared {
    float partial[kBlock];
  };
  struct Local {};
  ConvGradArgs args;
  Geometry g;

  MLOPT_DEVICE void operator()(Block<Shared, Local>& block) const {
    const auto depth = static_cast<uint32_t>(g.in_channels * g.taps), number = static_cast<uint32_t>(block.index);
    const uint32_t m = number / depth, c = g.by_taps.quotient(number - m * depth);
    const uint32_t tap = number - m * depth - c * g.by_taps.divisor;
    const int64_t channel = m / static_cast<uint32_t>(g.out_channels) * static_cast<uint32_t>(g.in_channels) + c;
    block.each([&](int t, Local&) {
      float sum = 0;
      for (int n = 0; n < args.conv.batch; ++n) {
        const T* x = static_cast<const T*>(args.conv.in) + (n * int64_t{args.conv.channels_in} + channel) * g.plane;
        const T* dy = static_cast<const T*>(args.grad) + (n * int64_t{args.conv.channels_out} + m) * g.positions;
        for (int position = t; position < g.positions; position += kBlock) {
          const int at = g.offset(g.corner(static_cast<uint32_t>(position)), tap);
          if (at >= 0) sum += widen(x[at]) * widen(dy[position]);
        }
      }
      block.shared.partial[t] = sum;
    });
    combine(block, [](float a, float b) { return a + b; });
    block.each([&](int t, Local&) {
      if (t == 0) static_cast<T*>(args.out)[block.index] = narrow<T>(block.shared.partial[0]);
    });
  }
};

template <class T>
struct Fold {
  FoldArgs args;
  Geometry g;
  Divider by_plane, by_channels, by_row, by_column;

  MLOPT_DEVICE void operator()(uint32_t i) const {
    const Windows& w = args.conv.windows;
    const uint32_t line = by_plane.quotient(i), place = i - line * by_plane.divisor;
    const uint32_t image = by_channels.quotient(line), c = line - image * by_channels.divisor;
    const uint32_t d = by_row.quotient(place), rest = place - d * by_row.divisor, h = by_column.quotient(rest);
    const int at[3] = {static_cast<int>(d), static_cast<int>(h), static_cast<int>(rest - h * by_column.divisor)};
    const T* columns = static_cast<const T*>(args.columns) + int64_t{line} * g.taps * g.positions;
    float sum = 0;
    int tap = 0, o[3];
    for (int x = 0; x < w.kernel[0]; ++x)
      for (int y = 0; y < w.kernel[1]; ++y)
        for (int z = 0; z < w.kernel[2]; ++z, ++tap) {
          const int taps[3] = {x, y, z};
          bool covered = true;
          for (int k = 0; k < 3; ++k) {
            const int start = at[k] + w.before[k] - taps[k] * w.dilation[k];
            o[k] = start / w.stride[k];
            covered = covered && start >= 0 && start % w.stride[k] == 0 && o[k] < w.out[k];
          }
          if (covered) sum += widen(columns[int64_t{tap} * g.positions + (o[0] * w.out[1] + o[1]) * w.out[2] + o[2]]);
        }
    const int64_t channel = int64_t{image} * args.conv.channels_out + args.group * g.out_channels + c;
    static_cast<T*>(args.out)[channel * g.plane + place] = narrow<T>(sum);
  }
};

}  // namespace

Status conv_grad(Queue& queue, const ConvGradArgs& args) {
  const Geometry g(args.conv);
  return by_float(args.conv.type, [&](auto one) {
    return for_blocks<kBlock>(queue, int64_t{args.conv.channels_out} * g.in_channels * g.taps,
                              ConvGrad<decltype(one)>{args, g});
  });
}

Status fold(Queue& queue, const FoldArgs& args) {
  const Geometry g(args.conv);
  const Windows& w = args.conv.windows;
  return by_float(args.conv.type, [&](auto one) {
    return for_each(queue, int64_t{args.images} * g.out_channels * g.plane,
                    Fold<decltype(one)>{args, g, Divider(g.plane), Divider(g.out_channels), Divider(w.in[1] * w.in[2]),
                                        Divider(w.in[2])});
  });
}

}  // namespace mlopt::gpu
