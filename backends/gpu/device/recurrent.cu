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
    const float in = sigmoid(widen(gates[0])), out = sigmoid(widen(gates[args.hidden]));
    const float keep = sigmoid(widen(gates[2 * args.hidden])), fresh = tanhf(widen(gates[3 * args.hidden]));
    T& cell = static_cast<T*>(args.cells)[i];
    const float now = keep * widen(cell) + in * fresh;
    cell = narrow<T>(now);
    static_cast<T*>(args.out)[i] = narrow<T>(out * tanhf(now));
  }
};

}  // namespace

Status lstm_step(Queue& queue, const LstmStepArgs& args) {
  return by_float(args.type, [&](auto one) {
    return for_each(queue, args.batch * args.hidden,
                    LstmStep<decltype(one)>{args, Divider(static_cast<uint32_t>(args.hidden))});
  });
}

}  // namespace mlopt::gpu
