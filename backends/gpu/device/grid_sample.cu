// Pictures at places that a grid names.
#include "backends/gpu/device/grid_sample.h"
#include "backends/gpu/device/walk.h"

namespace mlopt::gpu {
namespace {

/// x mirrored at both ends of [low, high] until it lies between them.
MLOPT_DEVICE double reflected(double x, double low, double high) {
  const double span = high - low;
  if (!(span > 0)) return low;
  const double distance = fmod(fabs(x - low), 2 * span);
  return low + (distance <= span ? distance : 2 * span - distance);
}

MLOPT_DEVICE double between(double x, double low, double high) { return x < low ? low : x > high ? high : x; }

/// The neighbours of a place along an axis and their shares.
struct Around {
  static constexpr int kMost = 4;
  int count;
  int places[kMost];  ///< -1: beside the picture
  float weights[kMost];
};

MLOPT_DEVICE float cubic_weight(double distance) {  // Keys 1981
  constexpr double kA = -0.75;
  const double d = fabs(distance);
  if (d <= 1) return static_cast<float>(((kA + 2) * d - (kA + 3)) * d * d + 1);
  if (d < 2) return static_cast<float>(((d - 5) * d + 8) * d * kA - 4 * kA);
  return 0;
}

template <class T>
struct GridSample {
  GridSampleArgs args;
  Divider by_points, by_channels;

  MLOPT_DEVICE double coordinate(double value, double length, double low, double high) const {
    double x = args.align_corners ? (value + 1) / 2 * (length - 1) : ((value + 1) * length - 1) / 2;
    if (!(fabs(x) < 1e30)) x = -3;  // neither NaN nor infinite
    if (args.mode == Sampling::kNearest) x = rint(x);
    if (x < low || x > high) {
      if (args.beyond == GridPadding::kBorder) x = between(x, 0, length - 1);
      if (args.beyond == GridPadding::kReflection) x = reflected(x, low, high);
    }
    return between(x, -4, length + 3);
  }

  MLOPT_DEVICE Around around(float value, int size) const {
    const double half = args.align_corners ? 0 : 0.5, low = -half, high = size - 1 + half;
    const double x = coordinate(static_cast<double>(value), size, low, high), start = floor(x), rest = x - start;
    const bool cubic = args.mode == Sampling::kCubic;
    const int first = cubic ? -1 : 0;
    Around found{cubic ? 4 : args.mode == Sampling::kLinear ? 2 : 1, {}, {}};
    for (int i = 0; i < found.count; ++i) {
      double place = start + first + i;
      if (args.beyond == GridPadding::kReflection) place = trunc(reflected(place, low, high));
      if (args.beyond != GridPadding::kZeros) place = between(place, 0, size - 1);
      found.places[i] = place < 0 || place >= size ? -1 : static_cast<int>(place);
      const double distance = rest - (first + i);
      found.weights[i] = cubic                            ? cubic_weight(distance)
                         : args.mode == Sampling::kLinear ? static_cast<float>(1 - fabs(distance))
                                                          : 1;
    }
    return found;
  }

  MLOPT_DEVICE void operator()(uint32_t at) const {
    const uint32_t plane = by_points.quotient(at), point = at - plane * by_points.divisor;
    const int64_t place = (static_cast<int64_t>(by_channels.quotient(plane)) * args.points + point) * args.axes;
    Around sides[GridSampleArgs::kAxes];
    for (int k = 0; k < GridSampleArgs::kAxes; ++k) {
      if (k < args.axes)  // the grid names the last axis first
        sides[k] = around(widen(static_cast<const T*>(args.grid)[place + args.axes - 1 - k]), args.lengths[k]);
      else
        sides[k] = {1, {0, 0, 0, 0}, {1, 0, 0, 0}};
    }
    const int rows = args.axes > 1 ? args.lengths[1] : 1, columns = args.axes > 2 ? args.lengths[2] : 1;
    const T* in = static_cast<const T*>(args.in) + static_cast<int64_t>(plane) * args.lengths[0] * rows * columns;
    float sum = 0;
    for (int i = 0; i < sides[0].count; ++i)
      for (int j = 0; j < sides[1].count; ++j)
        for (int k = 0; k < sides[2].count; ++k) {
          const int a = sides[0].places[i], b = sides[1].places[j], c = sides[2].places[k];
          if (a < 0 || b < 0 || c < 0) continue;
          sum += sides[0].weights[i] * sides[1].weights[j] * sides[2].weights[k] *
                 widen(in[(static_cast<int64_t>(a) * rows + b) * columns + c]);
        }
    static_cast<T*>(args.out)[at] = narrow<T>(sum);
  }
};

}  // namespace

Status grid_sample(Queue& queue, const GridSampleArgs& args) {
  return by_float(args.type, [&](auto one) {
    return for_each(queue, args.batch * args.channels * args.points,
                    GridSample<decltype(one)>{args, Divider(args.points), Divider(args.channels)});
  });
}

}  // namespace mlopt::gpu
