// RoiAlign and MaxRoiPool.
#include "backends/gpu/kernels.h"
#include "backends/gpu/places.h"

namespace mlopt::gpu {
namespace {

constexpr int64_t kMostBins = 1 << 15;

/// [regions, channels, rows, columns]; declines what is no picture, or too large.
Expected<TensorDesc> bins_of(const Site& site, int64_t width, int64_t rows, int64_t columns) {
  const TensorDesc &x = site.desc(0), &regions = site.desc(1);
  if (x.dims.size() != 4 || regions.dims.size() != 2 || regions.dims[1] != width || regions.dtype != x.dtype)
    return Decline{"no pictures, or no regions of their type"};
  if (rows < 1 || columns < 1 || rows > kMostBins || columns > kMostBins) return Decline{"the bins do not fit"};
  TensorDesc out{x.dtype, {regions.dims[0], x.dims[1], rows, columns}};
  if (!is_countable(x) || !is_countable(out)) return Decline{"more elements than kernels count"};
  return out;
}

Expected<PlannedStep> plan_align(const Site& site) {
  const TensorDesc& x = site.desc(0);
  const NodeView& view = site.view;
  const auto type = float_of(x.dtype);
  const auto wide = has_wide_places(site.desc(2));
  if (!type || !wide) return type ? wide.error() : type.error();
  const auto out = bins_of(site, 4, view.get_int("output_height", 1), view.get_int("output_width", 1));
  if (!out) return out.error();
  const std::string mode = view.get_string("mode", "avg");
  const int64_t sampling = view.get_int("sampling_ratio", 0);
  if ((mode != "avg" && mode != "max") || sampling < 0 || sampling > 4096) return Decline{"an unknown mode"};
  if (site.desc(2).size() != out->dims[0]) return Decline{"there is not one picture for each region"};
  RoiAlignArgs args{};
  args.type = *type;
  args.largest = mode == "max";
  args.half_pixel =
      view.opset() >= 16 && view.get_string("coordinate_transformation_mode", "half_pixel") == "half_pixel";
  args.wide = *wide;
  args.rows = static_cast<int>(out->dims[2]), args.columns = static_cast<int>(out->dims[3]);
  args.sampling = static_cast<int>(sampling);
  args.scale = view.get_float("spatial_scale", 1);
  args.pictures = x.dims[0], args.channels = x.dims[1], args.height = x.dims[2], args.width = x.dims[3];
  args.regions = out->dims[0];
  PlannedStep step{.out = {*out}};
  step.run = [args](const Buffers& b) {
    RoiAlignArgs now = args;
    now.in = b.in<void>(0);
    now.corners = b.in<void>(1);
    now.batch = b.in<void>(2);
    now.out = b.out<void>(0);
    launch(b, &Kernels::roi_align, now);
  };
  return step;
}

Expected<PlannedStep> plan_pool(const Site& site) {
  const TensorDesc& x = site.desc(0);
  const auto type = float_of(x.dtype);
  if (!type) return type.error();
  const std::vector<int64_t> bins = site.view.get_ints("pooled_shape");
  if (bins.size() != 2) return Decline{"the bins do not fit"};
  const auto out = bins_of(site, 5, bins[0], bins[1]);
  if (!out) return out.error();
  RoiPoolArgs args{};
  args.type = *type;
  args.rows = static_cast<int>(bins[0]), args.columns = static_cast<int>(bins[1]);
  args.scale = site.view.get_float("spatial_scale", 1);
  args.pictures = x.dims[0], args.channels = x.dims[1], args.height = x.dims[2], args.width = x.dims[3];
  args.regions = out->dims[0];
  PlannedStep step{.out = {*out}};
  step.run = [args](const Buffers& b) {
    RoiPoolArgs now = args;
    now.in = b.in<void>(0);
    now.corners = b.in<void>(1);
    now.out = b.out<void>(0);
    launch(b, &Kernels::roi_pool, now);
  };
  return step;
}

constexpr Kernel kKernels[] = {
    {.domain = "", .op = "RoiAlign", .plan = plan_align},
    {.domain = "", .op = "MaxRoiPool", .plan = plan_pool},
};

}  // namespace

std::span<const Kernel> region_kernels() { return kKernels; }

}  // namespace mlopt::gpu
