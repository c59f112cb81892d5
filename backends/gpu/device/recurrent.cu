#include "backends/gpu/device/function.h"
#include "backends/gpu/device/recurrent.h"
#include "backends/gpu/device/walk.h"

namespace mlopt::gpu {
namespace {

template <class T>
struct LstmStep {
  LstmStepArgs args;
  Divider by_hidden;
  MLOPT_DEVICE void operator()(uint32_t i) const {
    const uint32_t b = by_hidden.quotient(i);
    const T* gates = static_cast<const T*>(args.gates) + static_cast<int64_t>(b) * 3 * args.hidden + i;
    const float before = widen(static_cast<const T*>(args.before)[i]);
    const auto seen = [&](int gate, float cell) {  // what a peephole adds
      if (!args.peepholes) return 0.0f;
      return widen(static_cast<const T*>(args.peepholes)[gate * args.hidden + i - b * by_hidden.divisor]) * cell;
    };
    const float in = sigmoid(widen(gates[0]) + seen(0, before));
    const float keep = sigmoid(widen(gates[2 * args.hidden]) + seen(2, before));
    const float now = keep * before + in * tanhf(widen(gates[3 * args.hidden]));
    const float out = sigmoid(widen(gates[args.hidden]) + seen(1, now));
    static_cast<T*>(args.cells)[i] = narrow<T>(now);
    static_cast<T*>(args.out)[i] = narrow<T>(out * tanhf(now));
  }
};

template <class T>
struct KeepEnded {
  KeepEndedArgs args;
  Divider by_hidden;
  MLOPT_DEVICE void operator()(uint32_t i) const {
    const bool runs = args.time < args.lengths[by_hidden.quotient(i)];
    const T made = static_cast<const T*>(args.made)[i];
    if (runs) static_cast<T*>(args.state)[i] = made;
    if (args.out) static_cast<T*>(args.out)[i] = runs ? made : narrow<T>(0.0f);
  }
};

template <class T>
struct GruStep {
  GruStepArgs args;
  Divider by_hidden;
  MLOPT_DEVICE void operator()(uint32_t i) const {
    const int64_t hidden = args.hidden, b = by_hidden.quotient(i), k = i - b * hidden;
    const int64_t wide = args.fresh ? 2 * hidden : 3 * hidden;
    const T* gates = static_cast<const T*>(args.gates) + b * 3 * hidden + k;
    const T* partial = static_cast<const T*>(args.partial) + b * wide + k;
    const float update = sigmoid(widen(gates[0]) + widen(partial[0]));
    const float fresh = args.fresh
                            ? widen(static_cast<const T*>(args.fresh)[i])
                            : sigmoid(widen(gates[hidden]) + widen(partial[hidden])) * widen(partial[2 * hidden]);
    const float before = widen(static_cast<const T*>(args.before)[i]);
    static_cast<T*>(args.out)[i] = narrow<T>((1 - update) * tanhf(widen(gates[2 * hidden]) + fresh) + update * before);
  }
};

template <class T>
struct GruReset {
  GruStepArgs args;
  Divider by_hidden;
  MLOPT_DEVICE void operator()(uint32_t i) const {
    const int64_t hidden = args.hidden, b = by_hidden.quotient(i), k = i - b * hidden;
    const float gate = widen(static_cast<const T*>(args.gates)[b * 3 * hidden + hidden + k]);
    const float reset = sigmoid(gate + widen(static_cast<const T*>(args.partial)[b * 2 * hidden + hidden + k]));
    static_cast<T*>(args.out)[i] = narrow<T>(reset * widen(static_cast<const T*>(args.before)[i]));
  }
};

}  // namespace

Status gru_step(Queue& queue, const GruStepArgs& args) {
  return by_float(args.type, [&](auto one) {
    return for_each(queue, args.batch * args.hidden, GruStep<decltype(one)>{args, Divider(args.hidden)});
  });
}

Status gru_reset(Queue& queue, const GruStepArgs& args) {
  return by_float(args.type, [&](auto one) {
    return for_each(queue, args.batch * args.hidden, GruReset<decltype(one)>{args, Divider(args.hidden)});
  });
}

Status keep_ended(Queue& queue, const KeepEndedArgs& args) {
  return by_float(args.type, [&](auto one) {
    return for_each(queue, args.batch * args.hidden, KeepEnded<decltype(one)>{args, Divider(args.hidden)});
  });
}

Status lstm_step(Queue& queue, const LstmStepArgs& args) {
  return by_float(args.type, [&](auto one) {
    return for_each(queue, args.batch * args.hidden, LstmStep<decltype(one)>{args, Divider(args.hidden)});
  });
}

}  // namespace mlopt::gpu
