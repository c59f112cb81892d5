// ScatterElements and ScatterND, whose updates of one place follow each other in order; MaxUnpool; TensorScatter.
#include <map>
#include <utility>

#include "backends/gpu/kernels.h"
#include "backends/gpu/places.h"
#include "core/ir/unpooled.h"

namespace mlopt::gpu {
namespace {

/// How updates are merged, and of what type they are then.
struct How {
  int width;
  Elem type = Elem::kF32;
  Merge merge = Merge::kReplace;
};

Expected<How> how_of(const Site& site) {
  static const std::map<std::string_view, Merge> kKnown{{"none", Merge::kReplace},
                                                        {"add", Merge::kAdd},
                                                        {"mul", Merge::kMul},
                                                        {"min", Merge::kMin},
                                                        {"max", Merge::kMax}};
  const DType type = site.desc(0).dtype;
  const auto width = width_of(type);
  if (!width) return width.error();
  if (site.desc(2).dtype != type) return Decline{"updates of another type"};
  How how{*width};
  const auto merge = kKnown.find(site.view.get_string("reduction", "none"));
  if (merge == kKnown.end()) return Decline{"an unknown reduction"};
  how.merge = merge->second;
  if (how.merge == Merge::kReplace) return how;
  const auto elem = type == DType::kI32 || type == DType::kI64 ? elem_of(type) : float_of(type);
  if (!elem) return elem.error();
  how.type = *elem;
  return how;
}

/// A step whose output 0 is input 0 before `write` runs.
PlannedStep onto_input(const Site& site, std::function<void(const Buffers&)> write) {
  PlannedStep step{.out = {site.desc(0)}};
  step.in_place = 0;
  step.run = [bytes = site.desc(0).bytes(), write = std::move(write)](const Buffers& b) {
    if (b.in<void>(0) != b.out<void>(0)) queue_of(b).transfer(b.out<void>(0), b.in<void>(0), bytes);
    write(b);
  };
  return step;
}

Expected<PlannedStep> plan_elements(const Site& site) {
  const TensorDesc &x = site.desc(0), &places = site.desc(1);
  const auto how = how_of(site);
  const auto wide = has_wide_places(places);
  if (!how || !wide) return how ? wide.error() : how.error();
  if (x.dims.empty() || places.dims.size() != x.dims.size() || site.desc(2).dims != places.dims)
    return Decline{"the indices do not fit"};
  if (!is_countable(x) || x.size() == 0) return Decline{"no elements, or more than kernels count"};
  const auto axis =
      static_cast<size_t>(normalize_axis(site.view.get_int("axis", 0), static_cast<int64_t>(x.dims.size())));
  if (!fit_beside(places.dims, x.dims, axis)) return Decline{"more indices than data"};
  const Dims into = row_major_strides(x.dims), from = row_major_strides(places.dims);
  Dims lines = places.dims;
  const int64_t count = std::exchange(lines[axis], 1);
  const auto walk = walk_over<2>(lines, {into, from});
  if (!walk) return walk.error();
  ScatterElementsArgs args{how->type,  how->width,   how->merge, *wide,   *walk,   count,
                           from[axis], x.dims[axis], into[axis], nullptr, nullptr, nullptr};
  return onto_input(site, [args](const Buffers& b) {
    ScatterElementsArgs now = args;
    now.places = b.in<void>(1);
    now.updates = b.in<void>(2);
    now.out = b.out<void>(0);
    launch(b, &Kernels::scatter_elements, now);
  });
}

Expected<PlannedStep> plan_tuples(const Site& site) {
  constexpr int64_t kMostWork = int64_t{1} << 34;  // every update looks at all others
  const auto how = how_of(site);
  const auto into = tuples_of(site.desc(0), site.desc(1), 0);
  if (!how || !into) return how ? into.error() : how.error();
  const int64_t inner = element_count(into->rest), count = into->tuples.count;
  if (site.desc(2).size() != count * inner || !is_countable(site.desc(2))) return Decline{"the updates do not fit"};
  if (count * inner > kMostWork / count) return Decline{"too many updates"};
  const ScatterTuplesArgs args{how->type, how->width, how->merge, into->tuples, inner, nullptr, nullptr, nullptr};
  PlannedStep step = onto_input(site, [args](const Buffers& b) {
    ScatterTuplesArgs now = args;
    now.tuples.places = b.in<void>(1);
    now.offsets = reinterpret_cast<int64_t*>(b.scratch);
    now.updates = b.in<void>(2);
    now.out = b.out<void>(0);
    launch(b, &Kernels::scatter_tuples, now);
  });
  step.scratch_bytes = static_cast<size_t>(count) * sizeof(int64_t);
  return step;
}

/// Places are those of the picture that the window says, which output_shape may enlarge.
Expected<PlannedStep> plan_unpool(const Site& site) {
  const TensorDesc& x = site.desc(0);
  const auto width = width_of(x.dtype);
  const auto picture = unpooled(site.view, x.dims);
  if (!width || !picture) return width ? picture.error() : width.error();
  const auto asked = site.view.ints("", 2, *picture);
  if (!asked || asked->size() != picture->size()) return Decline{"output_shape is not constant"};
  for (size_t k = 0; k < picture->size(); ++k)
    if ((*asked)[k] < (*picture)[k]) return Decline{"output_shape is too small"};
  const TensorDesc out{x.dtype, *asked};
  if (site.desc(1).dtype != DType::kI64 || site.desc(1).dims != x.dims || !is_countable(out))
    return Decline{"the indices do not fit"};
  // All elements of the picture are counted one by one, whatever its axes are.
  Walk<1> walk;
  const Dims strides = row_major_strides(*asked);
  for (size_t k = picture->size(); k-- > 0; ++walk.rank) {
    if (walk.rank == walk.kAxes) return Decline{"more axes than kernels walk"};
    walk.dims[walk.rank] = Divider((*picture)[k]);
    walk.strides[walk.rank][0] = static_cast<int32_t>(strides[k]);
  }
  walk.count = element_count(*picture);
  PlannedStep step{.out = {out}};
  step.packed = {2};
  step.run = [width = *width, walk, count = x.size(), all = out.size()](const Buffers& b) {
    launch(b, &Kernels::fill, FillArgs{width, nullptr, b.out<void>(0), all});
    launch(b, &Kernels::unpool, UnpoolArgs{width, walk, count, b.in<int64_t>(1), b.in<void>(0), b.out<void>(0)});
  };
  return step;
}

/// Rows of a cache.
Expected<PlannedStep> plan_rows(const Site& site) {
  const TensorDesc &cache = site.desc(0), &rows = site.desc(1);
  const auto width = width_of(cache.dtype);
  if (!width) return width.error();
  const auto rank = static_cast<int64_t>(cache.dims.size());
  const auto axis = static_cast<size_t>(normalize_axis(site.view.get_int("axis", -2), rank));
  Dims wanted = cache.dims;
  const std::string mode = site.view.get_string("mode", "linear");
  if (axis == 0 || rows.dims.size() != cache.dims.size() || rows.dtype != cache.dtype)
    return Decline{"the rows do not fit the cache"};
  wanted[axis] = rows.dims[axis];
  if (wanted != rows.dims || rows.dims[axis] > cache.dims[axis] || !is_countable(cache))
    return Decline{"the rows do not fit the cache"};
  if (mode != "linear" && mode != "circular") return Decline{"an unknown mode"};
  WriteRowsArgs args{};
  args.width = *width;
  args.circular = mode == "circular";
  const Middle m = around(rows.dims, axis, axis + 1);
  args.batch = rows.dims[0], args.middle = m.outer / rows.dims[0], args.inner = m.inner;
  args.length = cache.dims[axis], args.count = m.length;
  const bool placed = site.has(2);
  if (placed) {
    const auto wide = has_wide_places(site.desc(2));
    if (!wide) return wide.error();
    if (site.desc(2).size() != args.batch) return Decline{"there is not one place for each sample"};
    args.wide = *wide;
  }
  return onto_input(site, [args, placed](const Buffers& b) {
    WriteRowsArgs now = args;
    now.first = placed ? b.in<void>(2) : nullptr;
    now.in = b.in<void>(1);
    now.out = b.out<void>(0);
    launch(b, &Kernels::write_rows, now);
  });
}

constexpr Kernel kKernels[] = {
    {.domain = "", .op = "Scatter", .plan = plan_elements},
    {.domain = "", .op = "ScatterElements", .plan = plan_elements},
    {.domain = "", .op = "ScatterND", .plan = plan_tuples},
    {.domain = "", .op = "MaxUnpool", .plan = plan_unpool},
    {.domain = "", .op = "TensorScatter", .plan = plan_rows},
};

}  // namespace

std::span<const Kernel> scatter_kernels() { return kKernels; }

}  // namespace mlopt::gpu
