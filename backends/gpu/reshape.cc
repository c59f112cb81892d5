// Operators that give the bytes of their first input other dims.
#include "backends/gpu/kernels.h"

namespace mlopt::gpu {
namespace {

Expected<PlannedStep> plan(const Site& site) {
  const TensorDesc& x = site.desc(0);
  const Type& type = site.view.node().output(0)->type;
  auto dims = type.static_dims();
  if (!type.is_tensor() || !dims || element_count(*dims) != x.size()) return Decline{"its shape is not known"};
  PlannedStep step{.out = {{x.dtype, std::move(*dims)}}};
  step.view_of = 0;
  for (int i = 1; i < static_cast<int>(site.in.size()); ++i) step.packed.push_back(i);
  return step;
}

/// The same bits as elements of another type of that width.
Expected<PlannedStep> plan_bits(const Site& site) {
  const TensorDesc& x = site.desc(0);
  const auto to = static_cast<DType>(site.view.get_int("to"));
  if (bits(to) != bits(x.dtype) || bits(to) < 8) return Decline{"elements of another width"};
  PlannedStep step{.out = {{to, x.dims}}};
  step.view_of = 0;
  return step;
}

/// Of inference, which drops nothing.
Expected<PlannedStep> plan_dropout(const Site& site) {
  const Tensor* training = site.constant(2);
  if (site.view.node().outputs().size() > 1 || (site.has(2) && (!training || *training->data<bool>())))
    return Decline{"training"};
  return plan(site);
}

constexpr Kernel kKernels[] = {
    {.domain = "", .op = "Flatten", .plan = plan},      {.domain = "", .op = "Identity", .plan = plan},
    {.domain = "", .op = "Reshape", .plan = plan},      {.domain = "", .op = "Squeeze", .plan = plan},
    {.domain = "", .op = "Unsqueeze", .plan = plan},    {.domain = "", .op = "Dropout", .plan = plan_dropout},
    {.domain = "", .op = "BitCast", .plan = plan_bits},
};

}  // namespace

std::span<const Kernel> reshape_kernels() { return kKernels; }

}  // namespace mlopt::gpu
