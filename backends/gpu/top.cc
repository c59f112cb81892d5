// The first elements of an axis: ArgMax, ArgMin, TopK; and what names them: Hardmax, OneHot.
#include "backends/gpu/kernels.h"
#include "backends/gpu/places.h"
#include "core/ir/softmax_axes.h"

namespace mlopt::gpu {
namespace {

Expected<Elem> type_of(const TensorDesc& x) {
  if (x.dims.empty() || !is_countable(x) || x.size() == 0)
    return Decline{"no axis, or more elements than kernels count"};
  const bool whole = x.dtype == DType::kI32 || x.dtype == DType::kI64 || x.dtype == DType::kU64;
  return whole ? elem_of(x.dtype) : float_of(x.dtype);
}

size_t axis_of(const Site& site, int64_t otherwise) {
  return static_cast<size_t>(
      normalize_axis(site.view.get_int("axis", otherwise), static_cast<int64_t>(site.desc(0).dims.size())));
}

TopArgs args_over(Elem type, const Middle& m) {
  TopArgs args{};
  args.type = type;
  args.largest = args.nan_first = true;
  args.outer = m.outer;
  args.length = m.length;
  args.inner = m.inner;
  args.count = 1;
  return args;
}

Expected<PlannedStep> plan_arg(const Site& site) {
  const TensorDesc& x = site.desc(0);
  const auto type = type_of(x);
  if (!type) return type.error();
  const size_t axis = axis_of(site, 0);
  TopArgs args = args_over(*type, around(x.dims, axis, axis + 1));
  args.largest = site.view.node().op == "ArgMax";
  args.last = site.view.get_int("select_last_index", 0) != 0;
  Dims out = x.dims;
  out[axis] = 1;
  if (site.view.get_int("keepdims", 1) == 0) out.erase(out.begin() + static_cast<int64_t>(axis));
  PlannedStep step{.out = {{DType::kI64, std::move(out)}}};
  step.run = [args](const Buffers& b) {
    TopArgs now = args;
    now.in = b.in<void>(0);
    now.places = b.out<int64_t>(0);
    launch(b, &Kernels::top, now);
  };
  return step;
}

Expected<PlannedStep> plan_topk(const Site& site) {
  constexpr int64_t kMost = 4096;  // the axis is read once for each: some milliseconds for thousands of many
  const TensorDesc& x = site.desc(0);
  const auto type = type_of(x);
  if (!type) return type.error();
  const auto count = site.view.ints("k", 1);
  if (!count || count->size() != 1) return Decline{"how many is not constant"};
  const size_t axis = axis_of(site, -1);
  TopArgs args = args_over(*type, around(x.dims, axis, axis + 1));
  args.largest = args.nan_first = site.view.get_int("largest", 1) != 0;
  args.count = count->front();
  if (args.count < 1 || args.count > args.length || args.count > kMost)
    return Decline{"more than 4096 elements, or none"};
  Dims out = x.dims;
  out[axis] = args.count;
  PlannedStep step{.out = {{x.dtype, out}, {DType::kI64, out}}};
  step.packed = {1};
  step.run = [args](const Buffers& b) {
    TopArgs now = args;
    now.in = b.in<void>(0);
    now.values = b.out<void>(0);
    now.places = b.out<int64_t>(1);
    launch(b, &Kernels::top, now);
  };
  return step;
}

/// The place of the largest element, then 1 there.
Expected<PlannedStep> plan_hardmax(const Site& site) {
  const TensorDesc& x = site.desc(0);
  const auto type = float_of(x.dtype);
  if (!type || !type_of(x)) return Decline{"not float numbers along an axis"};
  const Middle m = softmax_axes(site.view, x.dims);
  const uint64_t one = *type == Elem::kF32 ? 0x3f800000 : *type == Elem::kF16 ? 0x3c00 : 0x3f80;
  const TopArgs args = args_over(*type, m);
  PlannedStep step{.out = {x}};
  step.scratch_bytes = static_cast<size_t>(m.outer * m.inner) * sizeof(int64_t);
  step.run = [args, one, width = bits(x.dtype) / 8](const Buffers& b) {
    TopArgs now = args;
    now.nan_first = false;  // as a search from the front that takes what is larger has it
    now.leads = true;
    now.in = b.in<void>(0);
    now.places = reinterpret_cast<int64_t*>(b.scratch);
    launch(b, &Kernels::top, now);
    launch(b, &Kernels::one_hot,
           OneHotArgs{width, true, now.outer, now.length, now.inner, b.scratch, nullptr, {0, one}, b.out<void>(0)});
  };
  return step;
}

Expected<PlannedStep> plan_one_hot(const Site& site) {
  const TensorDesc &places = site.desc(0), &values = site.desc(2);
  const auto width = width_of(values.dtype);
  const auto wide = has_wide_places(places);
  if (!width || !wide) return width ? wide.error() : width.error();
  auto out = site.view.node().output(0)->type.static_dims();
  if (!out || out->size() != places.dims.size() + 1 || values.size() != 2) return Decline{"its shape is not known"};
  const auto rank = static_cast<int64_t>(out->size());
  const auto axis = static_cast<size_t>(normalize_axis(site.view.get_int("axis", -1), rank));
  const Middle m = around(*out, axis, axis + 1);
  PlannedStep step{.out = {{values.dtype, std::move(*out)}}};
  if (!is_countable(step.out[0]) || step.out[0].size() == 0 || m.outer * m.inner != places.size())
    return Decline{"no elements, or more than kernels count"};
  step.packed = {1};
  step.run = [width = *width, wide = *wide, m](const Buffers& b) {
    launch(b, &Kernels::one_hot,
           OneHotArgs{width, wide, m.outer, m.length, m.inner, b.in<void>(0), b.in<void>(2), {}, b.out<void>(0)});
  };
  return step;
}

constexpr Kernel kKernels[] = {
    {.domain = "", .op = "ArgMax", .plan = plan_arg},     {.domain = "", .op = "ArgMin", .plan = plan_arg},
    {.domain = "", .op = "TopK", .plan = plan_topk},      {.domain = "", .op = "Hardmax", .plan = plan_hardmax},
    {.domain = "", .op = "OneHot", .plan = plan_one_hot},
};

}  // namespace

std::span<const Kernel> top_kernels() { return kKernels; }

}  // namespace mlopt::gpu
