// mlopt.SeededDropout, whose mask follows from keys of the samples, SeededUniform and SeededNormal.
#include "backends/gpu/kernels.h"
#include "backends/gpu/operand.h"
#include "core/exec/sample_runs.h"

namespace mlopt::gpu {
namespace {

Expected<PlannedStep> plan(const Site& site) {
  const TensorDesc &x = site.desc(0), &keys = site.desc(1);
  const auto type = float_of(x.dtype);
  if (!type) return type.error();
  const int64_t axis = site.view.get_int("axis", 0);
  const float ratio = site.view.get_float("ratio", 0);
  if (keys.dtype != DType::kI64 || keys.dims.size() != 1 || keys.size() < 1 || ratio < 0 || ratio >= 1)
    return Decline{"no keys, or a ratio outside of [0, 1)"};
  const auto runs = sample_runs(x.dims, axis, keys.size() - 1);
  if (!runs || !is_countable(x) || x.size() == 0) return Decline{"the axis has no equal parts for the samples"};
  DropoutArgs args{};
  args.type = *type;
  args.outer = runs->outer;
  args.samples = runs->samples;
  args.length = runs->length;
  args.node = static_cast<uint64_t>(site.view.get_int("node", 0));
  args.dropped = static_cast<uint64_t>(static_cast<double>(ratio) * 0x1.0p53);
  args.ratio = ratio;
  PlannedStep step{.out = {x}};
  step.in_place = 0;
  step.run = [args, first = axis < 0 ? keys.size() - 1 : 0](const Buffers& b) {
    DropoutArgs now = args;
    now.keys = b.in<int64_t>(1) + first;
    now.in = b.in<void>(0);
    now.out = b.out<void>(0);
    launch(b, &Kernels::dropout, now);
  };
  return step;
}

/// Inputs: what the numbers are like, and keys, of which the last one counts.
Expected<PlannedStep> plan_numbers(const Site& site) {
  const TensorDesc &x = site.desc(0), &keys = site.desc(1);
  const auto type = float_of(x.dtype);
  if (!type) return type.error();
  if (keys.dtype != DType::kI64 || keys.size() < 1 || !is_countable(x)) return Decline{"no keys"};
  SeededArgs args{};
  args.type = *type;
  args.normal = site.view.node().op == "SeededNormal";
  args.node = static_cast<uint64_t>(site.view.get_int("node", 0));
  args.count = x.size();
  PlannedStep step{.out = {x}};
  step.packed.push_back(0);
  step.run = [args, last = keys.size() - 1](const Buffers& b) {
    SeededArgs now = args;
    now.key = b.in<int64_t>(1) + last;
    now.out = b.out<void>(0);
    launch(b, &Kernels::seeded, now);
  };
  return step;
}

constexpr Kernel kKernels[] = {
    {.domain = "mlopt", .op = "SeededDropout", .plan = plan},
    {.domain = "mlopt", .op = "SeededUniform", .plan = plan_numbers},
    {.domain = "mlopt", .op = "SeededNormal", .plan = plan_numbers},
};

}  // namespace

std::span<const Kernel> seeded_dropout_kernels() { return kKernels; }

}  // namespace mlopt::gpu
