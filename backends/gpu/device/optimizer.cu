// Optimizers. Rate, number of the update and scale are read on the device, so that a graph launch serves all updates.
#include "backends/gpu/device/optimizer.h"

namespace mlopt::gpu {
namespace {

/// Of 1 - beta^step, without the loss of digits near 1.
MLOPT_DEVICE float correction(float log_beta, float step) { return -expm1f(step * log_beta); }

struct Corrections {
  float first, second;
};
MLOPT_DEVICE Corrections corrections(const UpdateArgs& args) {
  return {correction(args.log_beta1, *args.step), correction(args.log_beta2, *args.step)};
}

template <class T>
MLOPT_DEVICE float at(const void* values, uint32_t i) {
  return widen(static_cast<const T*>(values)[i]);
}
template <class T>
MLOPT_DEVICE void put(void* values, uint32_t i, float value) {
  static_cast<T*>(values)[i] = narrow<T>(value);
}

template <class T>
struct Sgd {
  UpdateArgs args;
  MLOPT_DEVICE void operator()(uint32_t i) const {
    const float p = at<T>(args.param, i);
    float step = at<T>(args.grad, i) * *args.scale + args.decay * p;
    if (args.momentum != 0) {
      const float m = args.momentum * at<T>(args.moments[0], i) + step;
      put<T>(args.moments_out[0], i, m);
      step = args.nesterov ? step + args.momentum * m : m;
    }
    put<T>(args.param_out, i, p - *args.rate * step);
  }
};

/// The moments after they have taken up a gradient, and the direction that follows from them.
struct Adam {
  float first, second, direction;
};
MLOPT_DEVICE Adam adam(const UpdateArgs& args, const Corrections& c, float first, float second, float grad) {
  Adam a{args.beta1 * first + (1 - args.beta1) * grad, args.beta2 * second + (1 - args.beta2) * grad * grad, 0};
  a.direction = a.first / c.first / (sqrtf(a.second / c.second) + args.epsilon);
  return a;
}

template <class T>
struct AdamStep {
  UpdateArgs args;
  MLOPT_DEVICE void operator()(uint32_t i) const {
    const float p = at<T>(args.param, i);
    float grad = at<T>(args.grad, i) * *args.scale;
    if (args.rule == Optimizer::kAdam) grad += args.decay * p;
    const Adam a = adam(args, corrections(args), at<T>(args.moments[0], i), at<T>(args.moments[1], i), grad);
    put<T>(args.moments_out[0], i, a.first);
    put<T>(args.moments_out[1], i, a.second);
    if (args.rule == Optimizer::kLamb) return;
    const float decay = args.rule == Optimizer::kAdamW ? args.decay * p : 0;
    put<T>(args.param_out, i, p - *args.rate * (a.direction + decay));
  }
};

template <class T>
MLOPT_DEVICE float lamb_direction(const UpdateArgs& args, const Corrections& c, uint32_t i) {
  return at<T>(args.moments_out[0], i) / c.first / (sqrtf(at<T>(args.moments_out[1], i) / c.second) + args.epsilon) +
         args.decay * at<T>(args.param, i);
}

/// Sums of squares of the parameter and of its direction.
struct Squares {
  float param, direction;
};
MLOPT_DEVICE Squares added(Squares a, Squares b) { return {a.param + b.param, a.direction + b.direction}; }

struct LambShared {
  Squares partial[kBlock];
};
struct LambLocal {};

template <class T>
struct LambSums {
  using Shared = LambShared;
  using Local = LambLocal;
  UpdateArgs args;
  MLOPT_DEVICE void operator()(Block<Shared, Local>& block) const {
    block.each([&](int t, Local&) {
      const Corrections c = corrections(args);
      Squares sum{0, 0};
      for (int64_t i = int64_t{block.index} * kBlock + t; i < args.count; i += UpdateArgs::kParts * kBlock) {
        const float p = at<T>(args.param, static_cast<uint32_t>(i));
        const float d = lamb_direction<T>(args, c, static_cast<uint32_t>(i));
        sum = added(sum, {p * p, d * d});
      }
      block.shared.partial[t] = sum;
    });
    combine(block, added);
    block.each([&](int t, Local&) {
      if (t == 0) reinterpret_cast<Squares*>(args.sums)[block.index] = block.shared.partial[0];
    });
  }
};

template <class T>
struct LambApply {
  using Shared = LambShared;
  using Local = LambLocal;
  UpdateArgs args;
  int blocks;
  MLOPT_DEVICE void operator()(Block<Shared, Local>& block) const {
    block.each([&](int t, Local&) {
      block.shared.partial[t] = t < UpdateArgs::kParts ? reinterpret_cast<const Squares*>(args.sums)[t] : Squares{0, 0};
    });
    combine(block, added);
    block.each([&](int t, Local&) {
      const Squares all = block.shared.partial[0];
      const bool some = all.param > 0 && all.direction > 0;
      const float rate = *args.rate * (some ? sqrtf(all.param) / sqrtf(all.direction) : 1);
      const Corrections c = corrections(args);
      for (int64_t i = int64_t{block.index} * kBlock + t; i < args.count; i += int64_t{blocks} * kBlock)
        put<T>(
            args.param_out, static_cast<uint32_t>(i),
            at<T>(args.param, static_cast<uint32_t>(i)) - rate * lamb_direction<T>(args, c, static_cast<uint32_t>(i)));
    });
  }
};

}  // namespace

Status update(Queue& queue, const UpdateArgs& args) {
  return by_float(args.type, [&](auto one) -> Status {
    using T = decltype(one);
    if (args.rule == Optimizer::kSgd) return for_each(queue, args.count, Sgd<T>{args});
    const Status failed = for_each(queue, args.count, AdamStep<T>{args});
    if (failed || args.rule != Optimizer::kLamb) return failed;
    if (const Status wrong = for_blocks<kBlock>(queue, UpdateArgs::kParts, LambSums<T>{args})) return wrong;
    const int64_t needed = (args.count + 4 * kBlock - 1) / (4 * kBlock);
    return for_blocks<kBlock>(queue, needed, LambApply<T>{args, static_cast<int>(needed)});
  });
}

}  // namespace mlopt::gpu
