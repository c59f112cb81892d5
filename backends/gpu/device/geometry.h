#pragma once
#include "backends/gpu/device/walk.h"
#include "backends/gpu/device/windows.h"

namespace mlopt::gpu {

/// Positions and taps by their numbers.
struct Geometry {
  ConvArgs args;
  int in_channels, out_channels;  ///< of a group
  int positions, taps, plane;     ///< of the output, of the window, of the input
  Divider by_positions, by_row, by_column, by_taps, by_tap_row, by_tap_column;

  explicit Geometry(const ConvArgs& a)
      : args(a), in_channels(a.channels_in / a.groups), out_channels(a.channels_out / a.groups) {
    const Windows& w = a.windows;
    positions = w.out[0] * w.out[1] * w.out[2];
    taps = w.kernel[0] * w.kernel[1] * w.kernel[2];
    plane = w.in[0] * w.in[1] * w.in[2];
    by_positions = Divider(positions);
    by_row = Divider(w.out[1] * w.out[2]);
    by_column = Divider(w.out[2]);
    by_taps = Divider(taps);
    by_tap_row = Divider(w.kernel[1] * w.kernel[2]);
    by_tap_column = Divider(w.kernel[2]);
  }

  /// Where the windows of an output position begin along each axis.
  struct Corner {
    int at[3];
  };
  MLOPT_DEVICE Corner corner(uint32_t position) const {
    const Windows& w = args.windows;
    const uint32_t d = by_row.quotient(position), rest = position - d * by_row.divisor;
    const uint32_t h = by_column.quotient(rest), x = rest - h * by_column.divisor;
    return {{static_cast<int>(d) * w.stride[0] - w.before[0], static_cast<int>(h) * w.stride[1] - w.before[1],
             static_cast<int>(x) * w.stride[2] - w.before[2]}};
  }
  /// Where a tap of a window reads in a plane of the input; -1: beside it.
  MLOPT_DEVICE int offset(const Corner& corner, uint32_t tap) const {
    const Windows& w = args.windows;
    const uint32_t d = by_tap_row.quotient(tap), rest = tap - d * by_tap_row.divisor;
    const uint32_t h = by_tap_column.quotient(rest), x = rest - h * by_tap_column.divisor;
    const int at[3] = {corner.at[0] + static_cast<int>(d) * w.dilation[0],
                       corner.at[1] + static_cast<int>(h) * w.dilation[1],
                       corner.at[2] + static_cast<int>(x) * w.dilation[2]};
    for (int k = 0; k < 3; ++k)
      if (at[k] < 0 || at[k] >= w.in[k]) return -1;
    return (at[0] * w.in[1] + at[1]) * w.in[2] + at[2];
  }
};

}  // namespace mlopt::gpu
