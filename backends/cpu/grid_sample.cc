// GridSample of float32 pictures, to the nearest place or linearly. What a point reads is found once, for all channels.
#include <algorithm>
#include <cmath>

#include "backends/cpu/kernels.h"
#include "core/base/parallel.h"
#include "core/ir/grid_sampling.h"

namespace mlopt::cpu {
namespace {

using Mode = GridSampling::Mode;

/// The places that a point reads, and their shares.
struct Point {
  int count = 0;
  int64_t at[4] = {};
  float share[4] = {};
};

struct Sampling {
  GridSampling how;
  GridSide height, width;
  int64_t channels, points;  ///< of each picture
};

/// The neighbours of a coordinate on one axis.
int neighbours(double x, const GridSide& side, const GridSampling& how, int64_t* places, double* shares) {
  const double low = std::floor(x), rest = x - low;
  int count = 0;
  for (int i = 0; i <= (how.mode == Mode::kLinear ? 1 : 0); ++i) {
    const auto place = grid_place(low + i, side, how);
    if (!place) continue;
    places[count] = *place;
    shares[count++] = how.mode == Mode::kNearest ? 1 : i == 0 ? 1 - rest : rest;
  }
  return count;
}

Point point_of(const float* named, const Sampling& s) {
  int64_t rows[2], columns[2];
  double down[2], along[2];
  const int height = neighbours(grid_coordinate(named[1], s.height, s.how), s.height, s.how, rows, down);
  const int width = neighbours(grid_coordinate(named[0], s.width, s.how), s.width, s.how, columns, along);
  Point point;
  for (int i = 0; i < height; ++i)
    for (int j = 0; j < width; ++j, ++point.count) {
      point.at[point.count] = rows[i] * s.width.length + columns[j];
      point.share[point.count] = static_cast<float>(down[i] * along[j]);
    }
  return point;
}

float read(const float* plane, const Point& p) {
  if (p.count == 4)
    return p.share[0] * plane[p.at[0]] + p.share[1] * plane[p.at[1]] + p.share[2] * plane[p.at[2]] +
           p.share[3] * plane[p.at[3]];
  float sum = 0;
  for (int i = 0; i < p.count; ++i) sum += p.share[i] * plane[p.at[i]];
  return sum;
}

void sample(const Sampling& s, int64_t images, const float* x, const float* grid, float* y) {
  constexpr int64_t kBlock = 128;  // points whose places stay in the first cache
  const int64_t blocks = (s.points + kBlock - 1) / kBlock, plane = s.height.length * s.width.length;
  parallel_for(images * blocks, std::max<int64_t>(1, 32 / s.channels), [&](int64_t begin, int64_t end) {
    Point around[kBlock];
    for (int64_t item = begin; item < end; ++item) {
      const int64_t image = item / blocks, first = item % blocks * kBlock, count = std::min(kBlock, s.points - first);
      for (int64_t i = 0; i < count; ++i) around[i] = point_of(grid + 2 * (image * s.points + first + i), s);
      for (int64_t c = image * s.channels; c < (image + 1) * s.channels; ++c)
        for (int64_t i = 0; i < count; ++i) y[c * s.points + first + i] = read(x + c * plane, around[i]);
    }
  });
}

Expected<PlannedStep> plan(const Site& site) {
  const auto how = grid_sampling(site.view);
  if (!how) return how.error();
  const TensorDesc &x = site.desc(0), &grid = site.desc(1);
  if (x.dtype != DType::kF32 || grid.dtype != DType::kF32) return Decline{"not float32"};
  if (how->mode == Mode::kCubic) return Decline{"cubic"};
  if (x.dims.size() != 4 || grid.dims.size() != 4) return Decline{"not two spatial axes"};
  const bool empty = x.dims[2] == 0 || x.dims[3] == 0 || x.dims[1] == 0;
  if (empty || grid.dims[3] != 2 || grid.dims[0] != x.dims[0]) return Decline{"picture and grid do not fit"};
  TensorDesc out{DType::kF32, {x.dims[0], x.dims[1], grid.dims[1], grid.dims[2]}};
  const Sampling s{*how, grid_side(x.dims[2], *how), grid_side(x.dims[3], *how), x.dims[1],
                   grid.dims[1] * grid.dims[2]};
  PlannedStep step{.out = {std::move(out)}};
  step.run = [s, images = x.dims[0]](const Buffers& b) {
    sample(s, images, b.in<float>(0), b.in<float>(1), b.out<float>(0));
  };
  return step;
}

constexpr Kernel kKernels[] = {{.domain = "", .op = "GridSample", .plan = plan}};

}  // namespace

std::span<const Kernel> grid_sample_kernels() { return kKernels; }

}  // namespace mlopt::cpu
