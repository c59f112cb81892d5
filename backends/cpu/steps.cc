#include "backends/cpu/steps.h"

#include <algorithm>

#include "backends/cpu/dnn.h"
#include "backends/cpu/kernels.h"
#include "backends/cpu/primitive.h"
#include "core/exec/by_shape.h"

namespace mlopt {
namespace {

/// The step of the first of these kernels that does not decline.
Expected<Step> first_step(const NodeView& view, std::span<const Kernel> kernels, const CompileContext& context) {
  if (kernels.empty()) return Decline{"no kernel of the CPU takes it"};
  const Kernel& kernel = kernels.front();
  if (kernel.run) return Step(kernel.run);
  CompileContext here = context;
  here.next = [&, rest = kernels.subspan(1)]() -> Expected<Step> {
    Expected<Step> step = first_step(view, rest, context);
    return step || !context.next ? std::move(step) : context.next();
  };
  Expected<Step> step =
      kernel.compile ? kernel.compile(view, here) : by_shape(view, here, kernel.plan, cpu::plan_reorder);
  return step ? std::move(step) : first_step(view, kernels.subspan(1), context);
}

Expected<Step> step_of(const NodeView& view, const CompileContext& context) {
  std::vector<Kernel> kernels = cpu::all_kernels();
  const Node& node = view.node();
  std::erase_if(kernels, [&](const Kernel& k) { return k.op != node.op || k.domain != node.domain; });
  CompileContext in_fp32 = context;  // what a device was asked for says nothing of the processor
  in_fp32.precision = Precision::kF32;
  return first_step(view, kernels, in_fp32);
}

}  // namespace

std::vector<Kernel> cpu_steps() {
  if (dnnl::get_effective_cpu_isa() == dnnl::cpu_isa::isa_default) return {};
  std::vector<Kernel> steps;
  for (const Kernel& kernel : cpu::all_kernels()) {
    const bool known = std::any_of(steps.begin(), steps.end(),
                                   [&](const Kernel& s) { return s.op == kernel.op && s.domain == kernel.domain; });
    if (!known) steps.push_back({.domain = kernel.domain, .op = kernel.op, .compile = step_of, .label = "cpu"});
  }
  return steps;
}

}  // namespace mlopt
