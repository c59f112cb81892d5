// Gather along an axis, of single elements, and by tuples of indices.
#include <utility>

#include "backends/gpu/kernels.h"
#include "backends/gpu/places.h"

namespace mlopt::gpu {
namespace {

Expected<PlannedStep> plan(const Site& site) {
  const TensorDesc &x = site.desc(0), &indices = site.desc(1);
  const auto width = width_of(x.dtype);
  if (!width || x.dims.empty()) return Decline{"a scalar, or elements of less than a byte"};
  const auto wide = has_wide_places(indices);
  if (!wide) return wide.error();
  const auto axis =
      static_cast<size_t>(normalize_axis(site.view.get_int("axis", 0), static_cast<int64_t>(x.dims.size())));
  Dims out(x.dims.begin(), x.dims.begin() + static_cast<int64_t>(axis));
  out.insert(out.end(), indices.dims.begin(), indices.dims.end());
  out.insert(out.end(), x.dims.begin() + static_cast<int64_t>(axis) + 1, x.dims.end());
  PlannedStep step{.out = {{x.dtype, out}}};
  if (!is_countable(step.out[0])) return Decline{"more elements than kernels count"};
  step.run = [width = *width, wide = *wide, m = around(x.dims, axis, axis + 1),
              count = indices.size()](const Buffers& b) {
    launch(b, &Kernels::gather,
           GatherArgs{width, wide, m.outer, m.length, m.inner, count, b.in<void>(0), b.in<void>(1), b.out<void>(0)});
  };
  return step;
}

Expected<PlannedStep> plan_elements(const Site& site) {
  const TensorDesc &x = site.desc(0), &places = site.desc(1);
  const auto width = width_of(x.dtype);
  const auto wide = has_wide_places(places);
  if (!width || !wide) return width ? wide.error() : width.error();
  if (x.dims.empty() || places.dims.size() != x.dims.size()) return Decline{"the indices do not fit"};
  const auto axis =
      static_cast<size_t>(normalize_axis(site.view.get_int("axis", 0), static_cast<int64_t>(x.dims.size())));
  if (!fit_beside(places.dims, x.dims, axis)) return Decline{"more indices than data"};
  Dims strides = row_major_strides(x.dims);
  const int64_t stride = std::exchange(strides[axis], 0);
  const auto walk = walk_over<1>(places.dims, {strides});
  if (!walk || !is_countable(x)) return Decline{"no elements, or more than kernels count"};
  PlannedStep step{.out = {{x.dtype, places.dims}}};
  step.run = [width = *width, wide = *wide, walk = *walk, length = x.dims[axis], stride](const Buffers& b) {
    launch(b, &Kernels::gather_elements,
           GatherElementsArgs{width, wide, walk, length, stride, b.in<void>(0), b.in<void>(1), b.out<void>(0)});
  };
  return step;
}

Expected<PlannedStep> plan_tuples(const Site& site) {
  const TensorDesc &x = site.desc(0), &places = site.desc(1);
  const auto width = width_of(x.dtype);
  const auto tuples = tuples_of(x, places, site.view.get_int("batch_dims", 0));
  if (!width || !tuples) return width ? tuples.error() : width.error();
  Dims out(places.dims.begin(), places.dims.end() - 1);
  out.insert(out.end(), tuples->rest.begin(), tuples->rest.end());
  PlannedStep step{.out = {{x.dtype, std::move(out)}}};
  if (!is_countable(step.out[0])) return Decline{"more elements than kernels count"};
  step.run = [width = *width, tuples = tuples->tuples, inner = element_count(tuples->rest)](const Buffers& b) {
    GatherTuplesArgs args{width, tuples, inner, b.in<void>(0), b.out<void>(0)};
    args.tuples.places = b.in<void>(1);
    launch(b, &Kernels::gather_tuples, args);
  };
  return step;
}

constexpr Kernel kKernels[] = {
    {.domain = "", .op = "Gather", .plan = plan},
    {.domain = "", .op = "GatherElements", .plan = plan_elements},
    {.domain = "", .op = "GatherND", .plan = plan_tuples},
    {.domain = "com.microsoft", .op = "GatherND", .plan = plan_tuples},
};

}  // namespace

std::span<const Kernel> gather_kernels() { return kKernels; }

}  // namespace mlopt::gpu
