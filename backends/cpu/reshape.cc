// Operators that give the bytes of their first input other dims.
#include <optional>

#include "backends/cpu/kernels.h"

namespace mlopt::cpu {
namespace {

/// The layout of `dims` in which they are the bytes of x: of axes that are neither the first nor the channels, any may
/// be split and merged.
std::optional<mlopt::Layout> layout_of(const TensorDesc& x, const Dims& dims) {
  if (x.is_any_layout()) return mlopt::Layout::kRowMajor;
  if (x.layout == mlopt::Layout::kRowMajor) return x.layout;
  if (dims.size() >= 3 && dims[0] == x.dims[0] && dims[1] == x.dims[1]) return x.layout;
  return std::nullopt;
}

Expected<PlannedStep> plan(const Site& site) {
  const TensorDesc& x = site.desc(0);
  const Type& type = site.view.node().output(0)->type;
  auto dims = type.static_dims();
  if (!type.is_tensor() || !dims || element_count(*dims) != x.size()) return Decline{"its shape is not known"};
  const auto layout = layout_of(x, *dims);
  if (!layout) return Decline{"the channels change"};
  PlannedStep step{.out = {{x.dtype, std::move(*dims), *layout}}};
  step.view_of = 0;
  for (int i = 1; i < static_cast<int>(site.in.size()); ++i) step.packed.push_back(i);
  return step;
}

constexpr Kernel kKernels[] = {
    {.domain = "", .op = "Flatten", .plan = plan, .layout = LayoutRule::kAny, .bf16 = passes_first},
    {.domain = "", .op = "Identity", .plan = plan, .layout = LayoutRule::kAny, .bf16 = passes_first},
    {.domain = "", .op = "Reshape", .plan = plan, .layout = LayoutRule::kAny, .bf16 = passes_first},
    {.domain = "", .op = "Squeeze", .plan = plan, .layout = LayoutRule::kAny, .bf16 = passes_first},
    {.domain = "", .op = "Unsqueeze", .plan = plan, .layout = LayoutRule::kAny, .bf16 = passes_first},
};

}  // namespace

std::span<const Kernel> reshape_kernels() { return kKernels; }

}  // namespace mlopt::cpu
