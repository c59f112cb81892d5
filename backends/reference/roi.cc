#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "backends/reference/compute.h"
#include "backends/reference/kernels.h"
#include "core/base/parallel.h"

namespace mlopt::reference {
namespace {

constexpr double kMostSamples = 1 << 24;  // of one bin: more comes from a broken region, not from a picture

/// A picture plane and the four pixels around a point of it, with their shares.
struct Corners {
  int64_t place[4] = {0, 0, 0, 0};
  double weight[4] = {0, 0, 0, 0};
};

/// Points up to one pixel outside count as on the edge, all others as nothing.
Corners corners_of(double y, double x, int64_t height, int64_t width) {
  if (!(y >= -1 && y <= static_cast<double>(height) && x >= -1 && x <= static_cast<double>(width))) return {};
  y = std::clamp(y, 0.0, static_cast<double>(height - 1));
  x = std::clamp(x, 0.0, static_cast<double>(width - 1));
  const auto top = static_cast<int64_t>(y), left = static_cast<int64_t>(x);
  const int64_t bottom = std::min(top + 1, height - 1), right = std::min(left + 1, width - 1);
  const double down = y - static_cast<double>(top), along = x - static_cast<double>(left);
  return {{top * width + left, top * width + right, bottom * width + left, bottom * width + right},
          {(1 - down) * (1 - along), (1 - down) * along, down * (1 - along), down * along}};
}

struct AlignOptions {
  int64_t rows, columns, sampling;
  double scale;
  bool half_pixel, max;
};

/// The samples of one region, grid_rows x grid_columns for each output bin.
struct RegionSamples {
  int64_t per_bin = 0;
  std::vector<Corners> corners;
};

RegionSamples region_samples(const Call& call, const AlignOptions& options, const double* roi, int64_t height,
                             int64_t width) {
  const double offset = options.half_pixel ? 0.5 : 0.0;
  const double left = roi[0] * options.scale - offset, top = roi[1] * options.scale - offset;
  double wide = roi[2] * options.scale - offset - left, high = roi[3] * options.scale - offset - top;
  if (!options.half_pixel) {
    wide = std::max(wide, 1.0);
    high = std::max(high, 1.0);
  }
  require(call, std::isfinite(wide) && std::isfinite(high), "a region is too large or not finite");
  const double bin_height = high / static_cast<double>(options.rows),
               bin_width = wide / static_cast<double>(options.columns);
  const auto given = static_cast<double>(options.sampling);
  const double rows = std::max(0.0, options.sampling > 0 ? given : std::ceil(bin_height));
  const double columns = std::max(0.0, options.sampling > 0 ? given : std::ceil(bin_width));
  const double bins = static_cast<double>(options.rows) * static_cast<double>(options.columns);
  require(call, rows * columns * bins <= kMostSamples, "a region is too large");
  RegionSamples samples{static_cast<int64_t>(rows * columns), {}};
  for (int64_t bin = 0; bin < options.rows * options.columns; ++bin) {
    const int64_t y = bin / options.columns, x = bin % options.columns;
    for (int64_t i = 0; i < samples.per_bin; ++i) {
      const double iy = std::floor(static_cast<double>(i) / columns), ix = static_cast<double>(i) - iy * columns;
      samples.corners.push_back(corners_of(top + (static_cast<double>(y) + (iy + 0.5) / rows) * bin_height,
                                           left + (static_cast<double>(x) + (ix + 0.5) / columns) * bin_width, height,
                                           width));
    }
  }
  return samples;
}

template <class T>
T bin_value(const T* plane, const Corners* corners, int64_t count, bool max) {
  double sum = 0, best = 0;
  for (int64_t i = 0; i < count; ++i)
    for (int k = 0; k < 4; ++k) {
      const double part = corners[i].weight[k] * static_cast<double>(plane[corners[i].place[k]]);
      sum += part;
      best = i + k == 0 ? part : std::max(best, part);
    }
  return static_cast<T>(max ? best : sum / static_cast<double>(std::max<int64_t>(1, count)));
}

AlignOptions align_options(const Call& call) {
  const NodeView& view = call.view;
  const std::string coordinates = view.get_string("coordinate_transformation_mode", "half_pixel");
  const std::string mode = view.get_string("mode", "avg");
  require(call, mode == "avg" || mode == "max", "mode must be avg or max");
  AlignOptions options{view.get_int("output_height", 1),
                       view.get_int("output_width", 1),
                       view.get_int("sampling_ratio", 0),
                       view.get_float("spatial_scale", 1),
                       view.opset() >= 16 && coordinates == "half_pixel",
                       mode == "max"};
  require(call, options.rows > 0 && options.columns > 0 && element_count({options.rows, options.columns}) < (1 << 30),
          "the output size is impossible");
  return options;
}

void roi_align(Call& call) {
  const Tensor &data = call.in(0), &rois = call.in(1);
  require(call, data.rank() == 4 && rois.rank() == 2 && rois.dim(1) == 4, "the input must have 4 axes, rois 4 columns");
  require(call, data.dim(2) > 0 && data.dim(3) > 0, "the picture is empty");
  const std::vector<int64_t> pictures = to_ints(call.in(2));
  require(call, static_cast<int64_t>(pictures.size()) == rois.dim(0), "there must be one batch index for each region");
  for (const int64_t n : pictures) require(call, n >= 0 && n < data.dim(0), "a batch index is outside the batch");
  const AlignOptions options = align_options(call);
  const std::vector<double> corners = to_doubles(rois);
  const int64_t channels = data.dim(1), plane = data.dim(2) * data.dim(3), bins = options.rows * options.columns;
  const Tensor wide = widened(data);
  with_float(call, data.dtype(), [&](auto sample) {
    using T = decltype(sample);
    Tensor out(dtype_of<T>(), {rois.dim(0), channels, options.rows, options.columns});
    T* cells = out.mutable_data<T>();
    for (int64_t r = 0; r < rois.dim(0); ++r) {
      const RegionSamples samples = region_samples(call, options, corners.data() + r * 4, data.dim(2), data.dim(3));
      parallel_for(channels, 1 + 16384 / (bins * (samples.per_bin + 1)), [&](int64_t begin, int64_t end) {
        for (int64_t c = begin; c < end; ++c) {
          const T* picture = wide.data<T>() + (pictures[static_cast<size_t>(r)] * channels + c) * plane;
          for (int64_t bin = 0; bin < bins; ++bin)
            cells[(r * channels + c) * bins + bin] =
                bin_value(picture, samples.corners.data() + bin * samples.per_bin, samples.per_bin, options.max);
        }
      });
    }
    call.set(0, as(out, data.dtype()));
  });
}

/// A bin's rows or columns: [begin, end) within `length`.
std::pair<int64_t, int64_t> bin_range(double start, double bin, int64_t i, int64_t length) {
  const auto limit = [&](double v) {
    return static_cast<int64_t>(std::clamp(v + start, 0.0, static_cast<double>(length)));
  };
  return {limit(std::floor(static_cast<double>(i) * bin)), limit(std::ceil(static_cast<double>(i + 1) * bin))};
}

/// The largest value of each bin of a region given in whole pixels, both ends included.
template <class T>
void pool_region(const T* plane, T* out, const double* roi, double scale, const Dims& dims,
                 const std::vector<int64_t>& bins) {
  const double left = std::round(roi[1] * scale), top = std::round(roi[2] * scale);
  const double wide = std::max(std::round(roi[3] * scale) - left + 1, 1.0),
               high = std::max(std::round(roi[4] * scale) - top + 1, 1.0);
  for (int64_t i = 0; i < bins[0]; ++i)
    for (int64_t j = 0; j < bins[1]; ++j) {
      const auto [y0, y1] = bin_range(top, high / static_cast<double>(bins[0]), i, dims[2]);
      const auto [x0, x1] = bin_range(left, wide / static_cast<double>(bins[1]), j, dims[3]);
      T best = y1 > y0 && x1 > x0 ? std::numeric_limits<T>::lowest() : T{0};
      for (int64_t y = y0; y < y1; ++y)
        for (int64_t x = x0; x < x1; ++x) best = std::max(best, plane[y * dims[3] + x]);
      *out++ = best;
    }
}

void max_roi_pool(Call& call) {
  const Tensor &data = call.in(0), &rois = call.in(1);
  require(call, data.rank() == 4 && rois.rank() == 2 && rois.dim(1) == 5, "the input must have 4 axes, rois 5 columns");
  const std::vector<int64_t> bins = call.view.get_ints("pooled_shape");
  require(call, bins.size() == 2 && bins[0] > 0 && bins[1] > 0, "pooled_shape must be two positive numbers");
  const double scale = call.view.get_float("spatial_scale", 1);
  const std::vector<double> regions = to_doubles(rois);
  for (const double v : regions) require(call, std::abs(v) < 0x1p40, "a region is impossible");
  const int64_t channels = data.dim(1);
  const Tensor wide = widened(data);
  with_float(call, data.dtype(), [&](auto sample) {
    using T = decltype(sample);
    Tensor out(dtype_of<T>(), {rois.dim(0), channels, bins[0], bins[1]});
    for (int64_t r = 0; r < rois.dim(0); ++r) {
      const double* roi = regions.data() + r * 5;
      require(call, roi[0] >= 0 && roi[0] < static_cast<double>(data.dim(0)), "a batch index is outside the batch");
      for (int64_t c = 0; c < channels; ++c)
        pool_region(wide.data<T>() + (static_cast<int64_t>(roi[0]) * channels + c) * data.dim(2) * data.dim(3),
                    out.mutable_data<T>() + (r * channels + c) * bins[0] * bins[1], roi, scale, data.dims(), bins);
    }
    call.set(0, as(out, data.dtype()));
  });
}

constexpr Kernel kKernels[] = {
    {"", "RoiAlign", roi_align},
    {"", "MaxRoiPool", max_roi_pool},
};

}  // namespace

std::span<const Kernel> roi_kernels() { return kKernels; }

}  // namespace mlopt::reference
