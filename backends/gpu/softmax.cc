// Softmax and LogSoftmax.
#include "backends/gpu/kernels.h"
#include "backends/gpu/operand.h"

namespace mlopt::gpu {
namespace {

Expected<PlannedStep> plan(const Site& site) {
  const TensorDesc& x = site.desc(0);
  const auto type = float_of(x.dtype);
  if (!type) return type.error();
  if (x.dims.empty() || !is_countable(x)) return Decline{"a scalar, or more elements than kernels count"};
  const bool log = site.view.node().op == "LogSoftmax";
  const bool old = site.view.opset() < 13;  // before, all axes from `axis` on are one
  const auto rank = static_cast<int64_t>(x.dims.size());
  const int64_t given = site.view.get_int("axis", old ? 1 : -1);
  // That of old opsets, where it is not given, lies behind the axis of a vector: each element is a row then.
  const auto axis = static_cast<size_t>(old && given == rank ? rank : normalize_axis(given, rank));
  PlannedStep step{.out = {x}};
  step.in_place = 0;
  step.run = [type = *type, log, m = around(x.dims, axis, old ? x.dims.size() : axis + 1)](const Buffers& b) {
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
