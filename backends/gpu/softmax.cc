// Softmax and LogSoftmax.
#include "backends/gpu/kernels.h"
#include "backends/gpu/operand.h"
#include "core/ir/softmax_axes.h"

namespace mlopt::gpu {
namespace {

Expected<PlannedStep> plan(const Site& site) {
  const TensorDesc& x = site.desc(0);
  const auto type = float_of(x.dtype);
  if (!type) return type.error();
  if (x.dims.empty() || !is_countable(x)) return Decline{"a scalar, or more elements than kernels count"};
  const bool log = site.view.node().op == "LogSoftmax";
  PlannedStep step{.out = {x}};
  step.in_place = 0;
  step.run = [type = *type, log, m = softmax_axes(site.view, x.dims)](const Buffers& b) {
    launch(b, &Kernels::softmax, SoftmaxArgs{type, log, m.outer, m.length, m.inner, b.in<void>(0), b.out<void>(0)});
  };
  return step;
}

constexpr Kernel kKernels[] = {
    {.domain = "", .op = "Softmax", .plan = plan},
    {.domain = "", .op = "LogSoftmax", .plan = plan},
};

}  // namespace

std::span<const Kernel> softmax_kernels() { return kKernels; }

}  // namespace mlopt::gpu
