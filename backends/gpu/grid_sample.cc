// GridSample over one to three spatial axes.
#include "backends/gpu/kernels.h"
#include "backends/gpu/operand.h"
#include "core/ir/grid_sampling.h"

namespace mlopt::gpu {
namespace {

Sampling sampling_of(GridSampling::Mode mode) {
  switch (mode) {
    case GridSampling::Mode::kNearest:
      return Sampling::kNearest;
    case GridSampling::Mode::kCubic:
      return Sampling::kCubic;
    case GridSampling::Mode::kLinear:
      break;
  }
  return Sampling::kLinear;
}

GridPadding padding_of(GridSampling::Padding padding) {
  switch (padding) {
    case GridSampling::Padding::kBorder:
      return GridPadding::kBorder;
    case GridSampling::Padding::kReflection:
      return GridPadding::kReflection;
    case GridSampling::Padding::kZeros:
      break;
  }
  return GridPadding::kZeros;
}

Expected<PlannedStep> plan(const Site& site) {
  const TensorDesc &x = site.desc(0), &grid = site.desc(1);
  const auto type = float_of(x.dtype);
  const auto how = grid_sampling(site.view);
  if (!type || !how) return type ? how.error() : type.error();
  const size_t rank = x.dims.size();
  if (grid.dtype != x.dtype || rank < 3 || rank > 2 + GridSampleArgs::kAxes || grid.dims.size() != rank ||
      grid.dims[0] != x.dims[0] || grid.dims.back() != static_cast<int64_t>(rank) - 2)
    return Decline{"data and grid do not fit"};
  Dims out{x.dims[0], x.dims[1]};
  out.insert(out.end(), grid.dims.begin() + 1, grid.dims.end() - 1);
  GridSampleArgs args{};
  args.type = *type;
  args.mode = sampling_of(how->mode);
  args.beyond = padding_of(how->padding);
  args.align_corners = how->align_corners;
  args.axes = static_cast<int>(rank) - 2;
  args.batch = x.dims[0], args.channels = x.dims[1];
  args.points = element_count(Dims(out.begin() + 2, out.end()));
  for (size_t k = 2; k < rank; ++k) args.lengths[k - 2] = static_cast<int>(x.dims[k]);
  PlannedStep step{.out = {{x.dtype, std::move(out)}}};
  if (!is_countable(x) || !is_countable(step.out[0])) return Decline{"more elements than kernels count"};
  step.run = [args](const Buffers& b) {
    GridSampleArgs now = args;
    now.in = b.in<void>(0);
    now.grid = b.in<void>(1);
    now.out = b.out<void>(0);
    launch(b, &Kernels::grid_sample, now);
  };
  return step;
}

constexpr Kernel kKernels[] = {{.domain = "", .op = "GridSample", .plan = plan}};

}  // namespace

std::span<const Kernel> grid_sample_kernels() { return kKernels; }

}  // namespace mlopt::gpu
