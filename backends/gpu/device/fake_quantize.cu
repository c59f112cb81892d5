// Quantization that stays in floats, for training, and its gradient.
#include "backends/gpu/device/gradients.h"
#include "backends/gpu/device/walk.h"

namespace mlopt::gpu {
namespace {

MLOPT_DEVICE float code(const FakeQuantizeArgs& args, float v) {
  const float rounded = args.odd ? 2 * floorf(v / 2) + 1 : rintf(v);
  return rounded < args.low ? args.low : rounded > args.high ? args.high : rounded;
}

/// Does the gradient of v pass?
MLOPT_DEVICE bool passes(const FakeQuantizeArgs& args, float v) {
  const float margin = args.odd ? 1 : 0;
  return v >= args.low - margin && v <= args.high + margin;
}

template <class T>
struct FakeQuantize {
  FakeQuantizeArgs args;
  Divider by_inner, by_steps;
  MLOPT_DEVICE void operator()(uint32_t i) const {
    const uint32_t line = by_inner.quotient(i), c = line - by_steps.quotient(line) * by_steps.divisor;
    const float step = expf(widen(static_cast<const T*>(args.logs)[c]));
    static_cast<T*>(args.out)[i] = narrow<T>(code(args, widen(static_cast<const T*>(args.in)[i]) / step) * step);
  }
};

/// A slice of the elements of a step.
template <class T>
struct Slice {
  struct Shared {
    float partial[kBlock];
  };
  struct Local {};
  FakeQuantizeGradArgs args;
  Divider by_inner;

  MLOPT_DEVICE void operator()(Block<Shared, Local>& block) const {
    const FakeQuantizeArgs& f = args.forward;
    const int64_t c = block.index / args.slices, slice = block.index % args.slices, count = f.count / f.steps;
    block.each([&](int t, Local&) {
      const float step = expf(widen(static_cast<const T*>(f.logs)[c]));
      float sum = 0;
      for (int64_t e = count * slice / args.slices + t; e < count * (slice + 1) / args.slices; e += kBlock) {
        const uint32_t n = by_inner.quotient(static_cast<uint32_t>(e));
        const int64_t i = (n * f.steps + c) * f.inner + (e - n * f.inner);
        const float dy = widen(static_cast<const T*>(args.grad)[i]), v = widen(static_cast<const T*>(f.in)[i]) / step;
        const bool inside = passes(f, v);
        sum += dy * (code(f, v) - (inside ? v : 0));
        static_cast<T*>(f.out)[i] = narrow<T>(inside ? dy : 0.0f);
      }
      block.shared.partial[t] = sum;
    });
    combine(block, [](float a, float b) { return a + b; });
    block.each([&](int t, Local&) {
      if (t == 0) args.sums[block.index] = block.shared.partial[0];
    });
  }
};

template <class T>
struct StepSums {
  FakeQuantizeGradArgs args;
  MLOPT_DEVICE void operator()(uint32_t c) const {
    float sum = 0;
    for (int64_t s = 0; s < args.slices; ++s) sum += args.sums[c * args.slices + s];
    const float step = expf(widen(static_cast<const T*>(args.forward.logs)[c]));
    static_cast<T*>(args.logs_out)[c] = narrow<T>(sum * args.share / step);
  }
};

}  // namespace

Status fake_quantize(Queue& queue, const FakeQuantizeArgs& args) {
  return by_float(args.type, [&](auto one) {
    return for_each(queue, args.count, FakeQuantize<decltype(one)>{args, Divider(args.inner), Divider(args.steps)});
  });
}

Status fake_quantize_grad(Queue& queue, const FakeQuantizeGradArgs& args) {
  const FakeQuantizeArgs& f = args.forward;
  return by_float(f.type, [&](auto one) -> Status {
    using T = decltype(one);
    const Slice<T> slice{args, Divider(f.inner)};
    if (const Status failed = for_blocks<kBlock>(queue, f.steps * args.slices, slice)) return failed;
    return for_each(queue, f.steps, StepSums<T>{args});
  });
}

}  // namespace mlopt::gpu
