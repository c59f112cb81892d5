// Resize and Upsample with constant sizes, one axis after the other, and their gradient.
#include <algorithm>
#include <utility>

#include "backends/gpu/kernels.h"
#include "backends/gpu/operand.h"
#include "core/ir/resize_plan.h"

namespace mlopt::gpu {
namespace {

std::shared_ptr<Brought> table_of(const std::vector<ResizeTap>& taps) {
  std::vector<Tap> table;
  for (const ResizeTap& tap : taps) table.push_back({static_cast<int32_t>(tap.place), tap.weight});
  return brought(table);
}

struct Filter {
  ResizeArgs args;
  std::shared_ptr<Brought> table;
  size_t bytes;  ///< of what it makes
};

/// A step that applies the filters one after the other, to elements of `width` bytes that are moved, or to numbers (0);
/// inputs behind the first are not read.
Expected<PlannedStep> filtered(const Site& site, TensorDesc out, Elem type, int width,
                               const std::vector<ResizeFilter>& all, float outside = 0) {
  TensorDesc made = site.desc(0);
  PlannedStep step{.out = {std::move(out)}};
  for (int i = 1; i < static_cast<int>(site.in.size()); ++i) step.packed.push_back(i);
  if (all.empty()) {
    step.view_of = 0;
    return step;
  }
  std::vector<Filter> filters;
  for (const ResizeFilter& f : all) {
    const Middle m = around(made.dims, f.axis, f.axis + 1);
    made.dims[f.axis] = f.to;
    if (!is_countable(made)) return Decline{"more elements than kernels count"};
    const auto taps = static_cast<int>(f.taps);
    filters.push_back({{type, width, taps, m.outer, f.from, f.to, m.inner, outside, nullptr, nullptr, nullptr},
                       table_of(f.table),
                       made.bytes()});
    if (&f != &all.back()) step.scratch_bytes += made.bytes();
  }
  step.run = [filters = std::move(filters)](const Buffers& b) {
    const std::byte* from = b.in<std::byte>(0);
    std::byte* next = b.scratch;
    for (const Filter& filter : filters) {
      ResizeArgs args = filter.args;
      args.table = reinterpret_cast<const Tap*>(filter.table->at(queue_of(b)));
      args.in = from;
      args.out = &filter == &filters.back() ? b.out<std::byte>(0) : next;
      launch(b, &Kernels::resize, args);
      from = static_cast<const std::byte*>(args.out);
      next += filter.bytes;
    }
  };
  return step;
}

Expected<PlannedStep> plan(const Site& site) {
  const TensorDesc& x = site.desc(0);
  const auto resized = resize_plan(site.view, x.dims);
  if (!resized) return resized.error();
  const TensorDesc out{x.dtype, resized->out};
  if (resized->moves && !resized->outside) {
    const auto width = width_of(x.dtype);
    return width ? filtered(site, out, {}, *width, resized->filters) : width.error();
  }
  const auto type = float_of(x.dtype);
  return type ? filtered(site, out, *type, 0, resized->filters, resized->outside.value_or(0)) : type.error();
}

/// The other way: for each input the outputs that it went to. Where these differ in number, others get weight 0; there
/// are two at least, as one would be moved whatever its weight.
ResizeFilter transposed(const ResizeFilter& f) {
  std::vector<std::vector<ResizeTap>> back(static_cast<size_t>(f.from));
  for (size_t i = 0; i < f.table.size(); ++i)
    if (f.table[i].place >= 0)
      back[static_cast<size_t>(f.table[i].place)].push_back({static_cast<int64_t>(i / f.taps), f.table[i].weight});
  ResizeFilter made{f.axis, f.to, f.from, 2, {}};
  for (const auto& taps : back) made.taps = std::max(made.taps, taps.size());
  for (auto& taps : back) {
    taps.resize(made.taps, {taps.empty() ? 0 : taps[0].place, 0});
    made.table.insert(made.table.end(), taps.begin(), taps.end());
  }
  return made;
}

/// mlopt.ResizeGrad of dy, and roi, scales and sizes as Resize has them.
Expected<PlannedStep> plan_gradient(const Site& site) {
  const TensorDesc out{site.desc(0).dtype, site.view.get_ints("shape")};
  const auto resized = resize_plan(site.view, out.dims);
  const auto type = float_of(out.dtype);
  if (!resized || !type) return resized ? type.error() : resized.error();
  if (site.desc(0).dims != resized->out) return Decline{"dy does not fit shape, scales and sizes"};
  std::vector<ResizeFilter> filters;
  for (const ResizeFilter& f : resized->filters) filters.insert(filters.begin(), transposed(f));
  return filtered(site, out, *type, 0, filters);
}

constexpr Kernel kKernels[] = {
    {.domain = "", .op = "Resize", .plan = plan},
    {.domain = "", .op = "Upsample", .plan = plan},
    {.domain = "mlopt", .op = "ResizeGrad", .plan = plan_gradient},
};

}  // namespace

std::span<const Kernel> resize_kernels() { return kKernels; }

}  // namespace mlopt::gpu
