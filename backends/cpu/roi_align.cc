// RoiAlign of float32, the mean of samples between pixels. Samples lie on a grid, and so does what they take from
// pixels: a bin is a sum over its rows and columns, each with the share of all samples in it, for all channels at once.
#include <algorithm>
#include <cmath>
#include <vector>

#include "backends/cpu/kernels.h"
#include "backends/cpu/pool_taps.h"
#include "backends/cpu/transpose_block.h"
#include "core/base/error.h"
#include "core/base/parallel.h"

namespace mlopt::cpu {
namespace {

struct Align {
  Dims picture;  ///< [N, C, H, W]
  int64_t rows, columns, sampling;
  double scale;
  bool half_pixel;
};

/// A row or column of pixels, and its share of a bin.
struct Share {
  int64_t place;
  double share;
};
/// Of each bin along one axis.
using Bins = std::vector<std::vector<Share>>;

/// Adds what a sample at x takes from the pixels beside it: nothing from more than one pixel outside.
void add_sample(double x, int64_t length, double share, std::vector<Share>& bin) {
  if (!(x >= -1 && x <= static_cast<double>(length))) return;
  x = std::clamp(x, 0.0, static_cast<double>(length - 1));
  const auto low = static_cast<int64_t>(x);
  const double rest = x - static_cast<double>(low);
  const auto add = [&](int64_t place, double part) {
    const auto same = std::find_if(bin.begin(), bin.end(), [&](const Share& s) { return s.place == place; });
    if (same == bin.end())
      bin.push_back({place, part});
    else
      same->share += part;
  };
  add(low, (1 - rest) * share);
  if (rest > 0) add(std::min(low + 1, length - 1), rest * share);
}

/// One axis of a region, from `begin` on and `size` long, in pixels.
struct Extent {
  double begin, size;
};

/// How many samples a bin has along the axis.
double samples_of(const Extent& e, int64_t bins, const Align& a) {
  const double each = e.size / static_cast<double>(bins);
  return a.sampling > 0 ? static_cast<double>(a.sampling) : std::max(0.0, std::ceil(each));
}

Bins bins_of(const Extent& e, int64_t count, double samples, int64_t length) {
  Bins bins(static_cast<size_t>(count));
  const double each = e.size / static_cast<double>(count);
  for (int64_t i = 0; i < count; ++i)
    for (double k = 0; k < samples; ++k)
      add_sample(e.begin + (static_cast<double>(i) + (k + 0.5) / samples) * each, length, 1 / samples,
                 bins[static_cast<size_t>(i)]);
  return bins;
}

/// The region's axis between two corners.
Extent extent_of(float low, float high, const Align& a) {
  const double offset = a.half_pixel ? 0.5 : 0.0;
  const double begin = static_cast<double>(low) * a.scale - offset;
  const double size = static_cast<double>(high) * a.scale - offset - begin;
  return {begin, a.half_pixel ? size : std::max(size, 1.0)};
}

struct Region {
  Bins rows, columns;
};

Region region_of(const float* corners, const Align& a) {
  constexpr double kMostSamples = 1 << 24;  // more comes from a broken region, not from a picture
  const Extent wide = extent_of(corners[0], corners[2], a), high = extent_of(corners[1], corners[3], a);
  if (!std::isfinite(wide.size) || !std::isfinite(high.size)) input_error("a region is too large or not finite");
  const double down = samples_of(high, a.rows, a), along = samples_of(wide, a.columns, a);
  if (down * along * static_cast<double>(a.rows * a.columns) > kMostSamples) input_error("a region is too large");
  if (down == 0 || along == 0)  // whatever the other is: it may be beyond all counting
    return {Bins(static_cast<size_t>(a.rows)), Bins(static_cast<size_t>(a.columns))};
  return {bins_of(high, a.rows, down, a.picture[2]), bins_of(wide, a.columns, along, a.picture[3])};
}

/// What one thread works in.
struct Room {
  std::vector<const float*> taps;
  std::vector<float> weights, bins;
};

/// bins[rows * columns, channels] of a region of the picture [H, W, channels].
void fill_bins(const Region& region, const float* picture, const Align& a, Room& room) {
  const int64_t channels = a.picture[1];
  float* out = room.bins.data();
  for (const auto& row : region.rows)
    for (const auto& column : region.columns) {
      room.taps.clear();
      room.weights.clear();
      for (const Share& y : row)
        for (const Share& x : column) {
          room.taps.push_back(picture + (y.place * a.picture[3] + x.place) * channels);
          room.weights.push_back(static_cast<float>(y.share * x.share));
        }
      weighted_taps(room.taps.data(), room.weights.data(), static_cast<int64_t>(room.taps.size()), out, channels);
      out += channels;
    }
}

/// to[channels, bins] = from[bins, channels].
void turn(const float* from, float* to, int64_t channels, int64_t bins) {
  if (std::min(channels, bins) >= kTile<float>) return transpose_block(from, to, channels, bins, channels, bins);
  for (int64_t c = 0; c < channels; ++c)
    for (int64_t i = 0; i < bins; ++i) to[c * bins + i] = from[i * channels + c];
}

void align(const Align& a, int64_t regions, const Buffers& b) {
  const int64_t channels = a.picture[1], bins = a.rows * a.columns;
  const int64_t picture = channels * a.picture[2] * a.picture[3];
  parallel_for(regions, 1, [&](int64_t begin, int64_t end) {
    Room room;
    room.bins.resize(static_cast<size_t>(bins * channels));
    for (int64_t r = begin; r < end; ++r) {
      const int64_t of = b.in<int64_t>(2)[r];
      if (of < 0 || of >= a.picture[0]) input_error("a batch index is outside the batch");
      fill_bins(region_of(b.in<float>(1) + 4 * r, a), b.in<float>(0) + of * picture, a, room);
      turn(room.bins.data(), b.out<float>(0) + r * bins * channels, channels, bins);
    }
  });
}

Expected<PlannedStep> plan(const Site& site) {
  const TensorDesc &x = site.desc(0), &regions = site.desc(1), &of = site.desc(2);
  if (x.dtype != DType::kF32 || regions.dtype != DType::kF32 || of.dtype != DType::kI64) return Decline{"other types"};
  if (x.dims.size() != 4 || regions.dims.size() != 2 || regions.dims[1] != 4 || of.size() != regions.dims[0])
    return Decline{"picture and regions do not fit"};
  if (x.size() == 0) return Decline{"an empty picture"};
  if (site.view.get_string("mode", "avg") != "avg") return Decline{"not the mean"};
  constexpr int64_t kMost = 1 << 15;  // rows and columns of bins
  const Align a{
      x.dims,
      site.view.get_int("output_height", 1),
      site.view.get_int("output_width", 1),
      site.view.get_int("sampling_ratio", 0),
      site.view.get_float("spatial_scale", 1),
      site.view.opset() >= 16 && site.view.get_string("coordinate_transformation_mode", "half_pixel") == "half_pixel"};
  if (a.rows < 1 || a.columns < 1 || a.rows > kMost || a.columns > kMost) return Decline{"an impossible size"};
  PlannedStep step{.out = {{DType::kF32, {regions.dims[0], x.dims[1], a.rows, a.columns}}}};
  step.in = {mlopt::Layout::kChannelsLast, mlopt::Layout::kRowMajor, mlopt::Layout::kRowMajor};
  step.run = [a, count = regions.dims[0]](const Buffers& b) { align(a, count, b); };
  return step;
}

constexpr Kernel kKernels[] = {{.domain = "", .op = "RoiAlign", .plan = plan, .layout = LayoutRule::kAny}};

}  // namespace

std::span<const Kernel> roi_align_kernels() { return kKernels; }

}  // namespace mlopt::cpu
