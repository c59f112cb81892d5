#include "backends/reference/resample.h"

#include <algorithm>
#include <cmath>

#include "backends/reference/compute.h"
#include "core/base/parallel.h"

namespace mlopt::reference {
namespace {

template <class T>
void resample_into(const T* from, T* to, const AxisView& view, const AxisFilter& filter) {
  const auto length = static_cast<int64_t>(filter.taps.size());
  parallel_for(view.outer * length, 1 + 8192 / (view.inner + 1), [&](int64_t begin, int64_t end) {
    std::vector<double> sums(static_cast<size_t>(view.inner));
    for (int64_t row = begin; row < end; ++row) {
      const std::vector<AxisFilter::Tap>& taps = filter.taps[static_cast<size_t>(row % length)];
      std::fill(sums.begin(), sums.end(), taps.empty() ? filter.outside : 0.0);
      for (const AxisFilter::Tap& tap : taps) {
        const T* source = from + (row / length * view.length + tap.place) * view.inner;
        for (int64_t i = 0; i < view.inner; ++i)
          sums[static_cast<size_t>(i)] += tap.weight * static_cast<double>(source[i]);
      }
      for (int64_t i = 0; i < view.inner; ++i) to[row * view.inner + i] = static_cast<T>(sums[static_cast<size_t>(i)]);
    }
  });
}

}  // namespace

double linear_kernel(double x) { return std::max(0.0, 1.0 - std::abs(x)); }

double cubic_kernel(double x, double a) {
  x = std::abs(x);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
  return 0;
}

std::vector<AxisFilter::Tap> taps_at(const FilterShape& shape, double x, int64_t length) {
  const double left = std::ceil(x) - 1;  // a coordinate on a position counts as the right end of its cell
  const auto first = static_cast<int64_t>(std::floor(-shape.radius / shape.stretch)) + 1;
  std::vector<AxisFilter::Tap> taps;
  double sum = 0;
  for (int64_t i = first; i < 2 - first; ++i) {
    const double place = left + static_cast<double>(i);
    const bool outside = place < 0 || place > static_cast<double>(length - 1);
    const double weight = shape.exclude_outside && outside ? 0 : shape.kernel((place - x) * shape.stretch);
    if (weight == 0) continue;
    taps.push_back({static_cast<int64_t>(std::clamp(place, 0.0, static_cast<double>(length - 1))), weight});
    sum += weight;
  }
  if (taps.empty())
    taps.push_back({static_cast<int64_t>(std::clamp(x, 0.0, static_cast<double>(length - 1))), sum = 1});
  for (AxisFilter::Tap& tap : taps) tap.weight /= sum;
  return taps;
}

Tensor resampled(const Tensor& data, int axis, const AxisFilter& filter) {
  Dims dims = data.dims();
  dims[static_cast<size_t>(axis)] = static_cast<int64_t>(filter.taps.size());
  Tensor out(data.dtype(), dims);
  const AxisView view = around_axis(data.dims(), axis);
  if (data.dtype() == DType::kF64)
    resample_into(data.data<double>(), out.mutable_data<double>(), view, filter);
  else
    resample_into(data.data<float>(), out.mutable_data<float>(), view, filter);
  return out;
}

}  // namespace mlopt::reference
