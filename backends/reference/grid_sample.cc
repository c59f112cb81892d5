#include <cmath>

#include "backends/reference/compute.h"
#include "backends/reference/kernels.h"
#include "backends/reference/resample.h"
#include "core/base/parallel.h"
#include "core/ir/grid_sampling.h"

namespace mlopt::reference {
namespace {

using Mode = GridSampling::Mode;

GridSampling options_of(const Call& call) {
  const auto how = grid_sampling(call.view);
  if (!how) fail(call, how.error().reason);
  return *how;
}

/// The positions around `x` with their shares; those outside are left out or brought inside.
std::vector<AxisFilter::Tap> taps(double x, const GridSide& side, const GridSampling& options) {
  const double low = std::floor(x), rest = x - low;
  const int first = options.mode == Mode::kCubic ? -1 : 0;
  const int last = options.mode == Mode::kCubic ? 2 : options.mode == Mode::kLinear ? 1 : 0;
  std::vector<AxisFilter::Tap> found;
  for (int i = first; i <= last; ++i) {
    const auto place = grid_place(low + i, side, options);
    if (!place) continue;
    constexpr double kKeys = -0.75;
    const double weight = options.mode == Mode::kNearest  ? 1
                          : options.mode == Mode::kLinear ? linear_kernel(rest - i)
                                                          : cubic_kernel(rest - i, kKeys);
    found.push_back({*place, weight});
  }
  return found;
}

/// The weighted sum over all combinations of taps, axis by axis.
template <class T>
double sampled(const T* plane, const std::vector<std::vector<AxisFilter::Tap>>& taps,
               const std::vector<GridSide>& sides, size_t axis = 0, int64_t offset = 0) {
  if (axis == taps.size()) return static_cast<double>(plane[offset]);
  double sum = 0;
  for (const AxisFilter::Tap& tap : taps[axis])
    sum += tap.weight * sampled(plane, taps, sides, axis + 1, offset * sides[axis].length + tap.place);
  return sum;
}

template <class T>
void sample_points(const Tensor& data, const Tensor& grid, const GridSampling& options, T* out) {
  const auto axes = static_cast<size_t>(data.rank() - 2);
  std::vector<GridSide> sides;
  for (size_t i = 0; i < axes; ++i) sides.push_back(grid_side(data.dims()[i + 2], options));
  const int64_t channels = data.dim(1), plane = element_count({data.dims().begin() + 2, data.dims().end()});
  const int64_t points = element_count({grid.dims().begin() + 1, grid.dims().end() - 1});
  parallel_for(data.dim(0) * points, 256, [&](int64_t begin, int64_t end) {
    std::vector<std::vector<AxisFilter::Tap>> around(axes);
    for (int64_t item = begin; item < end; ++item) {
      const T* at = grid.data<T>() + item * static_cast<int64_t>(axes);
      for (size_t i = 0; i < axes; ++i)  // the grid names the last axis first
        around[i] = taps(grid_coordinate(static_cast<double>(at[axes - 1 - i]), sides[i], options), sides[i], options);
      for (int64_t c = 0; c < channels; ++c) {
        const int64_t picture = item / points * channels + c;
        out[picture * points + item % points] =
            static_cast<T>(sampled(data.data<T>() + picture * plane, around, sides));
      }
    }
  });
}

void grid_sample(Call& call) {
  const Tensor &data = call.in(0), &grid = call.in(1);
  require(call, data.rank() >= 3 && grid.rank() == data.rank(),
          "data and grid must have the same number of axes, 3 or more");
  require(call, grid.dim(grid.rank() - 1) == data.rank() - 2, "the grid does not name a place on every spatial axis");
  require(call, grid.dim(0) == data.dim(0), "data and grid have different batches");
  const GridSampling options = options_of(call);
  require(call, data.rank() - 2 <= 8, "too many spatial axes");
  for (int i = 2; i < data.rank(); ++i) require(call, data.dim(i) > 0, "a spatial axis is empty");
  Dims dims{data.dim(0), data.dim(1)};
  dims.insert(dims.end(), grid.dims().begin() + 1, grid.dims().end() - 1);
  const DType type = data.dtype();
  const bool numbers = is_float(type) || is_integer(type) || type == DType::kBool;
  if (!numbers) wrong_type(call, type);
  const DType compute = compute_type(grid.dtype()) == DType::kF64 || !is_float(type) ? DType::kF64 : compute_type(type);
  const Tensor values = as(data, compute), places = as(grid, compute);
  with_float(call, compute, [&](auto sample) {
    using T = decltype(sample);
    Tensor out(compute, dims);
    sample_points(values, places, options, out.mutable_data<T>());
    call.set(0, as(out, type));
  });
}

/// The coordinates of `length` points on [-1, 1]: from end to end, or the centres of equal cells.
std::vector<double> base_points(int64_t length, bool align_corners) {
  std::vector<double> points;
  const auto n = static_cast<double>(length);
  for (int64_t i = 0; i < length; ++i) {
    const auto at = static_cast<double>(i);
    points.push_back(!align_corners ? (2 * at + 1) / n - 1 : length == 1 ? 0 : 2 * at / (n - 1) - 1);
  }
  return points;
}

void affine_grid(Call& call) {
  const Tensor& theta = call.in(0);
  const std::vector<int64_t> size = to_ints(call.in(1));
  const int64_t axes = static_cast<int64_t>(size.size()) - 2;
  require(call, axes == 2 || axes == 3, "the size must have 4 or 5 numbers");
  require(call, theta.dims() == Dims{size[0], axes, axes + 1}, "theta does not fit the size");
  Dims dims{size[0]};
  dims.insert(dims.end(), size.begin() + 2, size.end());
  dims.push_back(axes);
  Tensor out(DType::kF64, dims);
  const std::vector<double> matrices = to_doubles(theta);
  std::vector<std::vector<double>> base;
  for (int64_t i = 0; i < axes; ++i)
    base.push_back(base_points(size[static_cast<size_t>(i) + 2], call.view.get_int("align_corners", 0) != 0));
  double* cell = out.mutable_data<double>();
  const int64_t points = out.size() == 0 ? 0 : out.size() / (size[0] * axes);
  for (int64_t item = 0; item < size[0] * points; ++item) {
    double at[4] = {0, 0, 0, 0};
    at[axes] = 1;
    int64_t rest = item % points;
    for (int64_t i = axes; i-- > 0; rest /= size[static_cast<size_t>(i) + 2])  // the last axis is the first coordinate
      at[axes - 1 - i] = base[static_cast<size_t>(i)][static_cast<size_t>(rest % size[static_cast<size_t>(i) + 2])];
    for (int64_t row = 0; row < axes; ++row) {
      const double* factors = matrices.data() + (item / points * axes + row) * (axes + 1);
      *cell = 0;
      for (int64_t i = 0; i <= axes; ++i) *cell += factors[i] * at[i];
      ++cell;
    }
  }
  call.set(0, cast(out, theta.dtype()));
}

constexpr Kernel kKernels[] = {
    {"", "GridSample", grid_sample},
    {"", "AffineGrid", affine_grid},
};

}  // namespace

std::span<const Kernel> grid_sample_kernels() { return kKernels; }

}  // namespace mlopt::reference
