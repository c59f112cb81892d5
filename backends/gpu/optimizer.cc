// Updates of parameters: mlopt's SgdUpdate, AdamUpdate, AdamWUpdate and LambUpdate.
#include <cmath>
#include <map>

#include "backends/gpu/kernels.h"
#include "backends/gpu/operand.h"

namespace mlopt::gpu {
namespace {

UpdateArgs args_of(const NodeView& view) {
  static const std::map<std::string_view, Optimizer> kKnown{{"SgdUpdate", Optimizer::kSgd},
                                                            {"AdamUpdate", Optimizer::kAdam},
                                                            {"AdamWUpdate", Optimizer::kAdamW},
                                                            {"LambUpdate", Optimizer::kLamb}};
  UpdateArgs args{};
  args.rule = kKnown.at(view.node().op);
  args.momentum = view.get_float("momentum", 0);
  args.nesterov = view.get_int("nesterov", 0) != 0;
  args.beta1 = view.get_float("beta1", 0.9f);
  args.beta2 = view.get_float("beta2", 0.999f);
  args.log_beta1 = static_cast<float>(std::log(static_cast<double>(args.beta1)));
  args.log_beta2 = static_cast<float>(std::log(static_cast<double>(args.beta2)));
  args.epsilon = view.get_float("epsilon", 1e-8f);
  args.decay = view.get_float("weight_decay", 0);
  return args;
}

/// Inputs: parameter, moments, gradient, rate, step, scale.
Expected<PlannedStep> plan(const Site& site) {
  UpdateArgs args = args_of(site.view);
  const int moments = args.rule != Optimizer::kSgd ? 2 : args.momentum != 0 ? 1 : 0;
  const TensorDesc& param = site.desc(0);
  const auto type = float_of(param.dtype);
  if (!type) return type.error();
  if (!is_countable(param)) return Decline{"more elements than kernels count"};
  for (int i = 1; i <= moments + 1; ++i)
    if (site.desc(i) != param) return Decline{"moments or gradient do not fit the parameter"};
  for (int i = moments + 2; i < moments + 5; ++i)
    if (site.desc(i).dtype != DType::kF32 || site.desc(i).size() != 1) return Decline{"rate, step or scale"};
  args.type = *type;
  args.count = param.size();
  PlannedStep step{.out = std::vector<TensorDesc>(static_cast<size_t>(moments) + 1, param)};
  step.in_place = 0;
  for (int i = 1; i <= moments; ++i) step.more_in_place.push_back(i);
  if (args.rule == Optimizer::kLamb) step.scratch_bytes = 2 * UpdateArgs::kParts * sizeof(float);
  step.run = [args, moments](const Buffers& b) {
    UpdateArgs now = args;
    now.param = b.in<void>(0);
    now.param_out = b.out<void>(0);
    for (int i = 0; i < moments; ++i) {
      now.moments[i] = b.in<void>(i + 1);
      now.moments_out[i] = b.out<void>(i + 1);
    }
    now.grad = b.in<void>(moments + 1);
    now.rate = b.in<float>(moments + 2);
    now.step = b.in<float>(moments + 3);
    now.scale = b.in<float>(moments + 4);
    now.sums = reinterpret_cast<float*>(b.scratch);
    launch(b, &Kernels::update, now);
  };
  return step;
}

constexpr Kernel kKernels[] = {
    {.domain = "mlopt", .op = "SgdUpdate", .plan = plan},
    {.domain = "mlopt", .op = "AdamUpdate", .plan = plan},
    {.domain = "mlopt", .op = "AdamWUpdate", .plan = plan},
    {.domain = "mlopt", .op = "LambUpdate", .plan = plan},
};

}  // namespace

std::span<const Kernel> optimizer_kernels() { return kKernels; }

}  // namespace mlopt::gpu
