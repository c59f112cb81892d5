// mlopt.UnaryGrad: dy times the derivative of a function of one number.
#include <map>

#include "backends/gpu/kernels.h"
#include "backends/gpu/operand.h"

namespace mlopt::gpu {
namespace {

Expected<Slope> slope_named(const std::string& of) {
  static const std::map<std::string_view, Slope> kKnown{
      {"Abs", Slope::kAbs},
      {"Acos", Slope::kAcos},
      {"Acosh", Slope::kAcosh},
      {"Asin", Slope::kAsin},
      {"Asinh", Slope::kAsinh},
      {"Atan", Slope::kAtan},
      {"Atanh", Slope::kAtanh},
      {"Celu", Slope::kCelu},
      {"Clip", Slope::kClip},
      {"Cos", Slope::kCos},
      {"Cosh", Slope::kCosh},
      {"Elu", Slope::kElu},
      {"Erf", Slope::kErf},
      {"Gelu", Slope::kGelu},
      {"GeluTanh", Slope::kGeluTanh},
      {"HardSigmoid", Slope::kHardSigmoid},
      {"HardSwish", Slope::kHardSwish},
      {"LeakyRelu", Slope::kLeakyRelu},
      {"Mish", Slope::kMish},
      {"Relu", Slope::kRelu},
      {"Selu", Slope::kSelu},
      {"Sigmoid", Slope::kSigmoid},
      {"Sin", Slope::kSin},
      {"Sinh", Slope::kSinh},
      {"Softplus", Slope::kSoftplus},
      {"Softsign", Slope::kSoftsign},
      {"Swish", Slope::kSwish},
      {"Tan", Slope::kTan},
      {"Tanh", Slope::kTanh},
      {"ThresholdedRelu", Slope::kThresholded},
  };
  const auto found = kKnown.find(of);
  if (found == kKnown.end()) return Decline{"no derivative of '" + of + "'"};
  return found->second;
}

Expected<PlannedStep> plan(const Site& site) {
  const TensorDesc& at = site.desc(0);
  const auto slope = slope_named(site.view.get_string("of", ""));
  const auto type = float_of(at.dtype);
  if (!slope || !type) return slope ? type.error() : slope.error();
  if (site.desc(1) != at || !is_countable(at)) return Decline{"dy does not fit, or has more than kernels count"};
  PlannedStep step{.out = {at}};
  step.in_place = 1;
  step.run = [type = *type, slope = *slope, a = site.view.get_float("alpha", 0), beta = site.view.get_float("beta", 0),
              count = at.size()](const Buffers& b) {
    launch(b, &Kernels::slope, SlopeArgs{type, slope, a, beta, b.in<void>(0), b.in<void>(1), b.out<void>(0), count});
  };
  return step;
}

constexpr Kernel kKernels[] = {{.domain = "mlopt", .op = "UnaryGrad", .plan = plan}};

}  // namespace

std::span<const Kernel> unary_grad_kernels() { return kKernels; }

}  // namespace mlopt::gpu
