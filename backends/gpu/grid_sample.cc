// GridSample over one to three spatial axes.
#include <map>

#include "backends/gpu/kernels.h"
#include "backends/gpu/operand.h"

namespace mlopt::gpu {
namespace {

Expected<GridSampleArgs> options_of(const NodeView& view) {
  static const std::map<std::string_view, Sampling> kModes{{"linear", Sampling::kLinear},
                                                           {"bilinear", Sampling::kLinear},
                                                           {"nearest", Sampling::kNearest},
                                                           {"cubic", Sampling::kCubic},
                                                           {"bicubic", Sampling::kCubic}};
  static const std::map<std::string_view, GridPadding> kPaddings{
      {"zeros", GridPadding::kZeros}, {"border", GridPadding::kBorder}, {"reflection", GridPadding::kReflection}};
  const auto mode = kModes.find(view.get_string("mode", "linear"));
  const auto padding = kPaddings.find(view.get_string("padding_mode", "zeros"));
  if (mode == kModes.end() || padding == kPaddings.end()) return Decline{"a mode that is unknown"};
  GridSampleArgs args{};
  args.mode = mode->second;
  args.beyond = padding->second;
  args.align_corners = view.get_int("align_corners", 0) != 0;
  return args;
}

Expected<PlannedStep> plan(const Site& site) {
  const TensorDesc &x = site.desc(0), &grid = site.desc(1);
  const auto type = float_of(x.dtype);
  auto args = options_of(site.view);
  if (!type || !args) return type ? args.error() : type.error();
  const size_t rank = x.dims.size();
  if (grid.dtype != x.dtype || rank < 3 || rank > 2 + GridSampleArgs::kAxes || grid.dims.size() != rank ||
      grid.dims[0] != x.dims[0] || grid.dims.back() != static_cast<int64_t>(rank) - 2)
    return Decline{"data and grid do not fit"};
  Dims out{x.dims[0], x.dims[1]};
  out.insert(out.end(), grid.dims.begin() + 1, grid.dims.end() - 1);
  args->type = *type;
  args->axes = static_cast<int>(rank) - 2;
  args->batch = x.dims[0], args->channels = x.dims[1];
  args->points = element_count(Dims(out.begin() + 2, out.end()));
  for (size_t k = 2; k < rank; ++k) args->lengths[k - 2] = static_cast<int>(x.dims[k]);
  PlannedStep step{.out = {{x.dtype, std::move(out)}}};
  if (!is_countable(x) || !is_countable(step.out[0])) return Decline{"more elements than kernels count"};
  step.run = [args = *args](const Buffers& b) {
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
