#include <algorithm>
#include <cmath>

#include "backends/reference/compute.h"
#include "backends/reference/kernels.h"
#include "backends/reference/resample.h"
#include "core/base/parallel.h"

namespace mlopt::reference {
namespace {

using Taps = std::vector<AxisFilter::Tap>;

/// For each of `count` points from `begin` to `end` (0 and 1 are the ends of the axis): where it reads, or nothing when
/// it lies outside.
std::vector<Taps> points_between(double begin, double end, int64_t count, int64_t length, bool nearest) {
  std::vector<Taps> points;
  const auto last = static_cast<double>(length - 1);
  for (int64_t i = 0; i < count; ++i) {
    const double part = count > 1 ? static_cast<double>(i) / static_cast<double>(count - 1) : 0.5;
    const double x = (begin + (end - begin) * part) * last;
    if (!(x >= 0 && x <= last))
      points.emplace_back();
    else if (nearest)
      points.push_back({{static_cast<int64_t>(std::round(x)), 1}});
    else
      points.push_back(taps_at({linear_kernel}, x, length));
  }
  return points;
}

template <class T>
double blended(const T* plane, int64_t width, const Taps& rows, const Taps& columns) {
  double sum = 0;
  for (const AxisFilter::Tap& row : rows)
    for (const AxisFilter::Tap& column : columns)
      sum += row.weight * column.weight * static_cast<double>(plane[row.place * width + column.place]);
  return sum;
}

/// com.microsoft's: regions (y1, x1, y2, x2, from 0 to 1) of pictures, each resized to one size.
void crop_and_resize(Call& call) {
  const Tensor &data = call.in(0), &rois = call.in(1);
  require(call, data.rank() == 4 && rois.rank() == 2 && rois.dim(1) == 4, "the input must have 4 axes, rois 4 columns");
  require(call, data.dim(2) > 0 && data.dim(3) > 0, "the picture is empty");
  const std::vector<int64_t> pictures = to_ints(call.in(2)), size = to_ints(call.in(3));
  require(call, static_cast<int64_t>(pictures.size()) == rois.dim(0) && size.size() == 2,
          "there must be one batch index for each region, and two sizes");
  for (const int64_t n : pictures) require(call, n >= 0 && n < data.dim(0), "a batch index is outside the batch");
  const std::string mode = call.view.get_string("mode", "bilinear");
  require(call, mode == "bilinear" || mode == "nearest", "mode must be bilinear or nearest");
  const double outside = call.view.get_float("extrapolation_value", 0);
  const std::vector<double> corners = to_doubles(rois);
  const int64_t channels = data.dim(1), width = data.dim(3), plane = data.dim(2) * width;
  const Tensor wide = widened(data);
  with_float(call, data.dtype(), [&](auto sample) {
    using T = decltype(sample);
    Tensor out(dtype_of<T>(), {rois.dim(0), channels, size[0], size[1]});
    T* cells = out.mutable_data<T>();
    parallel_for(rois.dim(0), 1, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        const double* roi = corners.data() + r * 4;
        const std::vector<Taps> rows = points_between(roi[0], roi[2], size[0], data.dim(2), mode == "nearest");
        const std::vector<Taps> columns = points_between(roi[1], roi[3], size[1], width, mode == "nearest");
        T* cell = cells + r * channels * size[0] * size[1];
        for (int64_t c = 0; c < channels; ++c) {
          const T* picture = wide.data<T>() + (pictures[static_cast<size_t>(r)] * channels + c) * plane;
          for (const Taps& row : rows)
            for (const Taps& column : columns)
              *cell++ = static_cast<T>(row.empty() || column.empty() ? outside : blended(picture, width, row, column));
        }
      }
    });
    call.set(0, as(out, data.dtype()));
  });
}

constexpr Kernel kKernels[] = {
    {"com.microsoft", "CropAndResize", crop_and_resize},
};

}  // namespace

std::span<const Kernel> crop_and_resize_kernels() { return kKernels; }

}  // namespace mlopt::reference
