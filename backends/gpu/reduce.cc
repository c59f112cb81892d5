// Reductions over axes, and the pools whose window is everything.
#include <algorithm>
#include <map>
#include <utility>

#include "backends/gpu/kernels.h"
#include "backends/gpu/operand.h"
#include "core/ir/reduced_axes.h"

namespace mlopt::gpu {
namespace {

struct Reduction {
  Fold fold;
  Before before = Before::kNothing;
  After after = After::kNothing;
  bool mean = false;
};

Reduction reduction_of(const NodeView& view) {
  static const std::map<std::string_view, Reduction> kKnown{
      {"ReduceMean", {Fold::kSum, Before::kNothing, After::kNothing, true}},
      {"GlobalAveragePool", {Fold::kSum, Before::kNothing, After::kNothing, true}},
      {"GlobalMaxPool", {Fold::kMax}},
      {"ReduceMax", {Fold::kMax}},
      {"ReduceMin", {Fold::kMin}},
      {"ReduceProd", {Fold::kProd}},
      {"ReduceSum", {Fold::kSum}},
      {"ReduceL1", {Fold::kSum, Before::kAbs}},
      {"ReduceL2", {Fold::kSum, Before::kSquare, After::kRoot}},
      {"ReduceSumSquare", {Fold::kSum, Before::kSquare}},
      {"ReduceLogSum", {Fold::kSum, Before::kNothing, After::kLog}},
      {"ReduceLogSumExp", {Fold::kLogSumExp}}};
  const std::string& op = view.node().op;
  return kKnown.at(op != "GlobalLpPool" ? op : view.get_int("p", 2) == 1 ? "ReduceL1" : "ReduceL2");
}

int64_t made_by(const Middle& m) { return m.outer * m.inner; }

Expected<PlannedStep> plan_over(const Site& site, const std::vector<bool>& reduced, bool keep) {
  const TensorDesc& x = site.desc(0);
  const Reduction r = reduction_of(site.view);
  const bool exact = x.dtype == DType::kI32 || x.dtype == DType::kI64;
  const auto type = exact ? elem_of(x.dtype) : float_of(x.dtype);
  if (!type) return type.error();
  if (exact && (r.mean || r.after != After::kNothing || r.fold == Fold::kLogSumExp)) return Decline{"not of integers"};
  if (!is_countable(x)) return Decline{"more elements than kernels count"};
  Dims out;
  for (size_t k = 0; k < x.dims.size(); ++k)
    if (!reduced[k] || keep) out.push_back(reduced[k] ? 1 : x.dims[k]);
  std::vector<Middle> groups = reduction_groups(x.memory_dims(), reduced);
  if (groups.empty()) groups.push_back({x.size(), 1, 1});
  PlannedStep step{.out = {{x.dtype, std::move(out)}}};
  const size_t width = x.dtype == DType::kI64 ? 8 : 4;  // of partial results
  int64_t terms = 1;
  for (size_t g = 0; g < groups.size(); ++g) {
    terms *= groups[g].length;
    if (g + 1 < groups.size()) step.scratch_bytes += static_cast<size_t>(made_by(groups[g])) * width;
  }
  step.run = [r, type = *type, width, terms, groups = std::move(groups)](const Buffers& b) {
    const std::byte* from = b.in<std::byte>(0);
    std::byte* scratch = b.scratch;
    for (size_t g = 0; g < groups.size(); ++g) {
      const bool first = g == 0, last = g + 1 == groups.size();
      std::byte* to = last ? b.out<std::byte>(0) : scratch;
      const Middle& m = groups[g];
      launch(b, &Kernels::reduce,
             ReduceArgs{type, r.fold, first ? r.before : Before::kNothing, last ? r.after : After::kNothing,
                        last && r.mean ? static_cast<float>(terms) : 1.0f, m.outer, m.length, m.inner, from, to, !first,
                        !last});
      from = to;
      scratch += static_cast<size_t>(made_by(m)) * width;
    }
  };
  return step;
}

Expected<PlannedStep> plan(const Site& site) {
  const auto reduced = reduced_axes(site.view, site.desc(0).dims.size());
  if (!reduced) return reduced.error();
  return plan_over(site, *reduced, site.view.get_int("keepdims", 1) != 0);
}

/// Channels may come last, and what is made lies alike in both layouts.
Expected<PlannedStep> plan_global(const Site& site) {
  const TensorDesc& x = site.desc(0);
  const size_t rank = x.dims.size();
  if (rank < 3) return Decline{"no spatial axes"};
  if (const int64_t p = site.view.get_int("p", 2); p != 1 && p != 2) return Decline{"another norm than the first two"};
  std::vector<bool> reduced(rank, true);
  reduced[0] = reduced[x.layout == Layout::kChannelsLast ? rank - 1 : 1] = false;
  auto step = plan_over(site, reduced, true);
  if (step) std::fill(std::copy_n(x.dims.begin(), 2, step->out[0].dims.begin()), step->out[0].dims.end(), 1);
  return step;
}

constexpr Kernel kKernels[] = {
    {.domain = "", .op = "ReduceSum", .plan = plan},
    {.domain = "", .op = "ReduceMean", .plan = plan},
    {.domain = "", .op = "ReduceMax", .plan = plan},
    {.domain = "", .op = "ReduceMin", .plan = plan},
    {.domain = "", .op = "ReduceProd", .plan = plan},
    {.domain = "", .op = "ReduceL1", .plan = plan},
    {.domain = "", .op = "ReduceL2", .plan = plan},
    {.domain = "", .op = "ReduceSumSquare", .plan = plan},
    {.domain = "", .op = "ReduceLogSum", .plan = plan},
    {.domain = "", .op = "ReduceLogSumExp", .plan = plan},
    {.domain = "", .op = "GlobalLpPool", .plan = plan_global, .layout = LayoutRule::kAny},
    {.domain = "", .op = "GlobalAveragePool", .plan = plan_global, .layout = LayoutRule::kAny},
    {.domain = "", .op = "GlobalMaxPool", .plan = plan_global, .layout = LayoutRule::kAny},
};

}  // namespace

std::span<const Kernel> reduce_kernels() { return kKernels; }

}  // namespace mlopt::gpu
