#include "backends/gpu/device/geometry.h"
#include "backends/gpu/device/places.h"
#include "backends/gpu/device/regions.h"

namespace mlopt::gpu {
namespace {

/// The four pixels around a point of a picture plane, and their shares.
struct Corners {
  int place[4];
  float share[4];
};

/// Points up to one pixel outside count as on the edge, all others as nothing.
MLOPT_DEVICE Corners corners_of(float y, float x, int height, int width) {
  Corners made{{0, 0, 0, 0}, {0, 0, 0, 0}};
  if (!(y >= -1 && y <= static_cast<float>(height) && x >= -1 && x <= static_cast<float>(width))) return made;
  const auto within = [](float v, int length) {
    const auto last = static_cast<float>(length - 1);
    return v < 0 ? 0 : v > last ? last : v;
  };
  y = within(y, height), x = within(x, width);
  const int top = static_cast<int>(y), left = static_cast<int>(x);
  const int bottom = top + 1 < height ? top + 1 : top, right = left + 1 < width ? left + 1 : left;
  const float down = y - static_cast<float>(top), along = x - static_cast<float>(left);
  return {{top * width + left, top * width + right, bottom * width + left, bottom * width + right},
          {(1 - down) * (1 - along), (1 - down) * along, down * (1 - along), down * along}};
}

template <class T>
struct RoiAlign {
  RoiAlignArgs args;
  Reporter reporter;
  Divider by_column, by_row, by_channel;

  MLOPT_DEVICE void operator()(uint32_t i) const {
    const uint32_t line = by_column.quotient(i), plane = by_row.quotient(line), r = by_channel.quotient(plane);
    const auto bin_y = static_cast<float>(line - plane * by_row.divisor),
               bin_x = static_cast<float>(i - line * by_column.divisor);
    const uint32_t c = plane - r * by_channel.divisor;
    const int64_t picture =
        args.wide ? static_cast<const int64_t*>(args.batch)[r] : static_cast<const int32_t*>(args.batch)[r];
    T& out = static_cast<T*>(args.out)[i];
    out = narrow<T>(0.0f);
    if (picture < 0 || picture >= args.pictures) return reporter.outside(picture, args.pictures);
    const T* corner = static_cast<const T*>(args.corners) + int64_t{r} * 4;
    const float shift = args.half_pixel ? 0.5f : 0;
    const float left = widen(corner[0]) * args.scale - shift, top = widen(corner[1]) * args.scale - shift;
    float width = widen(corner[2]) * args.scale - shift - left, height = widen(corner[3]) * args.scale - shift - top;
    if (!args.half_pixel) width = width < 1 ? 1 : width, height = height < 1 ? 1 : height;
    const float step_y = height / static_cast<float>(args.rows), step_x = width / static_cast<float>(args.columns);
    const int rows = samples(step_y), columns = samples(step_x);
    const T* x = static_cast<const T*>(args.in) + (picture * args.channels + c) * args.height * args.width;
    float sum = 0, most = 0;
    for (int iy = 0; iy < rows; ++iy)
      for (int ix = 0; ix < columns; ++ix) {
        const float y = top + (bin_y + (static_cast<float>(iy) + 0.5f) / static_cast<float>(rows)) * step_y;
        const float at = left + (bin_x + (static_cast<float>(ix) + 0.5f) / static_cast<float>(columns)) * step_x;
        const Corners near = corners_of(y, at, static_cast<int>(args.height), static_cast<int>(args.width));
        for (int k = 0; k < 4; ++k) {
          const float part = near.share[k] * widen(x[near.place[k]]);
          sum += part;
          if (part > most || iy + ix + k == 0) most = part;
        }
      }
    const int count = rows * columns;
    out = narrow<T>(args.largest ? most : sum / static_cast<float>(count > 1 ? count : 1));
  }

  /// Along one side of a bin of so many pixels; what no picture has is cut off.
  MLOPT_DEVICE int samples(float pixels) const {
    if (args.sampling > 0) return args.sampling;
    const float whole = ceilf(pixels);
    return whole > 0 ? static_cast<int>(whole < 4096 ? whole : 4096) : 0;
  }
};

template <class T>
struct RoiPool {
  RoiPoolArgs args;
  Reporter reporter;
  Divider by_column, by_row, by_channel;

  /// Of bin `bin`, of `step` pixels each, from `start` on: its first pixel, and the first behind it.
  MLOPT_DEVICE int limit(float start, float pixels, int64_t length) const {
    const float at = start + pixels, most = static_cast<float>(length);
    return static_cast<int>(at < 0 ? 0 : at > most ? most : at);
  }

  MLOPT_DEVICE void operator()(uint32_t i) const {
    const uint32_t line = by_column.quotient(i), plane = by_row.quotient(line), r = by_channel.quotient(plane);
    const auto bin_y = static_cast<float>(line - plane * by_row.divisor),
               bin_x = static_cast<float>(i - line * by_column.divisor);
    const uint32_t c = plane - r * by_channel.divisor;
    const T* corner = static_cast<const T*>(args.corners) + int64_t{r} * 5;
    const auto picture = static_cast<int64_t>(widen(corner[0]));
    T& out = static_cast<T*>(args.out)[i];
    out = narrow<T>(0.0f);
    if (picture < 0 || picture >= args.pictures) return reporter.outside(picture, args.pictures);
    const auto pixel = [&](int k) { return roundf(widen(corner[k]) * args.scale); };
    const float left = pixel(1), top = pixel(2), wide = pixel(3) - left + 1, high = pixel(4) - top + 1;
    const float step_y = (high < 1 ? 1 : high) / static_cast<float>(args.rows);
    const float step_x = (wide < 1 ? 1 : wide) / static_cast<float>(args.columns);
    const int y0 = limit(top, floorf(bin_y * step_y), args.height),
              y1 = limit(top, ceilf((bin_y + 1) * step_y), args.height);
    const int x0 = limit(left, floorf(bin_x * step_x), args.width),
              x1 = limit(left, ceilf((bin_x + 1) * step_x), args.width);
    const T* x = static_cast<const T*>(args.in) + (picture * args.channels + c) * args.height * args.width;
    float most = 0;
    for (int y = y0; y < y1; ++y)
      for (int at = x0; at < x1; ++at) {
        const float v = widen(x[y * args.width + at]);
        if (v > most || (y == y0 && at == x0)) most = v;
      }
    out = narrow<T>(most);
  }
};

/// Between four pixels; what lies beside the picture is 0.
template <class T>
MLOPT_DEVICE float between(const T* plane, int height, int width, float y, float x) {
  if (!(y > -1 && y < static_cast<float>(height) && x > -1 && x < static_cast<float>(width))) return 0;
  const float top = floorf(y), left = floorf(x);
  float sum = 0;
  for (int k = 0; k < 4; ++k) {
    const int row = static_cast<int>(top) + k / 2, column = static_cast<int>(left) + k % 2;
    if (row < 0 || row >= height || column < 0 || column >= width) continue;
    const float share = (1 - fabsf(y - static_cast<float>(row))) * (1 - fabsf(x - static_cast<float>(column)));
    sum += share * widen(plane[row * width + column]);
  }
  return sum;
}

template <class T>
struct DeformedColumns {
  DeformedColumnsArgs args;
  Geometry g;
  Divider by_lines;

  MLOPT_DEVICE void operator()(uint32_t i) const {
    const Windows& w = g.args.windows;
    const uint32_t line = g.by_positions.quotient(i), position = i - line * g.by_positions.divisor;
    const uint32_t image = by_lines.quotient(line), k = line - image * by_lines.divisor;
    const uint32_t c = g.by_taps.quotient(k), tap = k - c * g.by_taps.divisor;
    const uint32_t row = g.by_tap_column.quotient(tap), column = tap - row * g.by_tap_column.divisor;
    const int channel = args.group * g.in_channels + static_cast<int>(c);
    const int offsets = channel / (g.args.channels_in / args.offset_groups);  // their group
    const int64_t each = int64_t{args.offset_groups} * g.taps;                // of an image
    const int64_t at = image * each + offsets * g.taps + tap;
    const T* shift = static_cast<const T*>(args.offsets) + 2 * at * g.positions + position;
    const Geometry::Corner corner = g.corner(position);
    const float y = static_cast<float>(corner.at[1] + static_cast<int>(row) * w.dilation[1]) + widen(shift[0]);
    const float x =
        static_cast<float>(corner.at[2] + static_cast<int>(column) * w.dilation[2]) + widen(shift[g.positions]);
    const T* plane = static_cast<const T*>(args.in) + (int64_t{image} * g.args.channels_in + channel) * g.plane;
    const float read = between(plane, w.in[1], w.in[2], y, x);
    const float factor = args.mask ? widen(static_cast<const T*>(args.mask)[at * g.positions + position]) : 1;
    static_cast<T*>(args.out)[i] = narrow<T>(read * factor);
  }
};

template <template <class> class Work, class Args>
Status for_bins(Queue& queue, const Args& args) {
  return by_float(args.type, [&](auto one) {
    return for_each(queue, args.regions * args.channels * args.rows * args.columns,
                    Work<decltype(one)>{args, reporter_of(queue), Divider(args.columns), Divider(args.rows),
                                        Divider(args.channels)});
  });
}

}  // namespace

Status roi_align(Queue& queue, const RoiAlignArgs& args) { return for_bins<RoiAlign>(queue, args); }

Status roi_pool(Queue& queue, const RoiPoolArgs& args) { return for_bins<RoiPool>(queue, args); }

Status deformed_columns(Queue& queue, const DeformedColumnsArgs& args) {
  const Geometry g(args.conv);
  const int depth = g.in_channels * g.taps;
  return by_float(args.conv.type, [&](auto one) {
    return for_each(queue, int64_t{args.images} * depth * g.positions,
                    DeformedColumns<decltype(one)>{args, g, Divider(depth)});
  });
}

}  // namespace mlopt::gpu
