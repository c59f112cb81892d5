// Updates of parameters by their gradients, in one pass over each tensor.
#include <cmath>

#include "backends/cpu/kernels.h"
#include "backends/cpu/targets.h"
#include "core/base/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/optimizer.cc"
#include <hwy/foreach_target.h>

#include "backends/cpu/math-inl.h"

#ifndef MLOPT_BACKENDS_CPU_OPTIMIZER
#define MLOPT_BACKENDS_CPU_OPTIMIZER
namespace mlopt::cpu {
namespace {

/// What an update is made of: where each value lies before and after, and numbers that are one for the tensor.
struct Sgd {
  const float *parameter, *moment, *grad;  ///< moment: null without momentum
  float *new_parameter, *new_moment;
  float rate, scale, decay, momentum;
  bool nesterov;
};

struct Adam {
  const float *parameter, *first, *second, *grad;
  float *new_parameter, *new_first, *new_second;
  float scale, l2, keep;  ///< of the gradient; decay added to it; share of the parameter that stays
  float beta1, beta2, epsilon;
  float rate, root;  ///< over 1 - beta1^t; of 1 - beta2^t
};

}  // namespace
}  // namespace mlopt::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace mlopt::cpu::HWY_NAMESPACE {
namespace {

void SgdRange(const Sgd& s, int64_t begin, int64_t end) {
  each_vector(begin, end, [&](int64_t i, size_t n) HWY_ATTR {
    const V p = load_n(s.parameter + i, n);
    V step = hn::MulAdd(load_n(s.grad + i, n), constant(s.scale), hn::Mul(p, constant(s.decay)));
    if (s.moment) {
      const V m = hn::MulAdd(load_n(s.moment + i, n), constant(s.momentum), step);
      store_n(m, s.new_moment + i, n);
      step = s.nesterov ? hn::MulAdd(m, constant(s.momentum), step) : m;
    }
    store_n(hn::NegMulAdd(step, constant(s.rate), p), s.new_parameter + i, n);
  });
}

void AdamRange(const Adam& s, int64_t begin, int64_t end) {
  each_vector(begin, end, [&](int64_t i, size_t n) HWY_ATTR {
    const V p = load_n(s.parameter + i, n);
    const V g = hn::MulAdd(load_n(s.grad + i, n), constant(s.scale), hn::Mul(p, constant(s.l2)));
    const V m = hn::MulAdd(load_n(s.first + i, n), constant(s.beta1), hn::Mul(g, constant(1 - s.beta1)));
    const V v = hn::MulAdd(load_n(s.second + i, n), constant(s.beta2), hn::Mul(hn::Mul(g, g), constant(1 - s.beta2)));
    store_n(m, s.new_first + i, n);
    store_n(v, s.new_second + i, n);
    const V deviation = hn::Add(hn::Div(hn::Sqrt(v), constant(s.root)), constant(s.epsilon));
    const V stays = hn::Mul(p, constant(s.keep));
    store_n(hn::NegMulAdd(hn::Div(m, deviation), constant(s.rate), stays), s.new_parameter + i, n);
  });
}

}  // namespace
}  // namespace mlopt::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mlopt::cpu {
namespace {

HWY_EXPORT(SgdRange);
HWY_EXPORT(AdamRange);

constexpr int64_t kGrain = 16384;

/// Inputs: what is kept (the parameter and its moments), gradient, rate, step, scale; outputs: what is kept.
Expected<PlannedStep> plan_kept(const Site& site, int kept) {
  if (static_cast<int>(site.in.size()) != kept + 4) return Decline{"other inputs"};
  PlannedStep step;
  for (int i = 0; i < kept + 4; ++i) {
    if (site.desc(i).dtype != DType::kF32) return Decline{"not float32"};
    if (i <= kept && site.desc(i).dims != site.desc(0).dims) return Decline{"shapes differ"};
    if (i < kept) step.out.push_back(site.desc(0));
    if (i > 0 && i < kept) step.more_in_place.push_back(i);
  }
  step.in_place = 0;
  return step;
}

Expected<PlannedStep> plan_sgd(const Site& site) {
  const float momentum = site.view.get_float("momentum", 0);
  const int kept = momentum != 0 ? 2 : 1;
  auto step = plan_kept(site, kept);
  if (!step) return step;
  Sgd settings{};
  settings.momentum = momentum;
  settings.decay = site.view.get_float("weight_decay", 0);
  settings.nesterov = site.view.get_int("nesterov", 0) != 0;
  step->run = [=, count = site.desc(0).size()](const Buffers& b) {
    Sgd s = settings;
    s.parameter = b.in<float>(0), s.new_parameter = b.out<float>(0);
    s.moment = kept == 2 ? b.in<float>(1) : nullptr;
    s.new_moment = kept == 2 ? b.out<float>(1) : nullptr;
    s.grad = b.in<float>(kept);
    s.rate = *b.in<float>(kept + 1), s.scale = *b.in<float>(kept + 3);
    parallel_for(count, kGrain, [&](int64_t begin, int64_t end) { HWY_DYNAMIC_DISPATCH(SgdRange)(s, begin, end); });
  };
  return step;
}

/// Adam, whose decay is part of the gradient, or AdamW, where it is apart.
template <bool kApart>
Expected<PlannedStep> plan_adam(const Site& site) {
  auto step = plan_kept(site, 3);
  if (!step) return step;
  Adam settings{};
  settings.beta1 = site.view.get_float("beta1", 0.9f);
  settings.beta2 = site.view.get_float("beta2", 0.999f);
  settings.epsilon = site.view.get_float("epsilon", 1e-8f);
  const float decay = site.view.get_float("weight_decay", 0);
  settings.l2 = kApart ? 0 : decay;
  step->run = [=, count = site.desc(0).size()](const Buffers& b) {
    Adam s = settings;
    const float rate = *b.in<float>(4);
    const double t = static_cast<double>(*b.in<float>(5));
    s.parameter = b.in<float>(0), s.first = b.in<float>(1), s.second = b.in<float>(2), s.grad = b.in<float>(3);
    s.new_parameter = b.out<float>(0), s.new_first = b.out<float>(1), s.new_second = b.out<float>(2);
    s.scale = *b.in<float>(6);
    s.keep = kApart ? 1 - rate * decay : 1;
    s.rate = static_cast<float>(static_cast<double>(rate) / (1 - std::pow(static_cast<double>(s.beta1), t)));
    s.root = static_cast<float>(std::sqrt(1 - std::pow(static_cast<double>(s.beta2), t)));
    parallel_for(count, kGrain, [&](int64_t begin, int64_t end) { HWY_DYNAMIC_DISPATCH(AdamRange)(s, begin, end); });
  };
  return step;
}

constexpr Kernel kKernels[] = {
    {.domain = "mlopt", .op = "SgdUpdate", .plan = plan_sgd},
    {.domain = "mlopt", .op = "AdamUpdate", .plan = plan_adam<false>},
    {.domain = "mlopt", .op = "AdamWUpdate", .plan = plan_adam<true>},
};

}  // namespace

std::span<const Kernel> optimizer_kernels() { return kKernels; }

}  // namespace mlopt::cpu
#endif  // HWY_ONCE
