#include "backends/cpu/rnn_cell.h"

#include <algorithm>

#include "backends/cpu/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/rnn_cell.cc"
#include <hwy/foreach_target.h>

#include "backends/cpu/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mlopt::cpu::HWY_NAMESPACE {
namespace {

/// fn(load, store) for each vector of n numbers: load(p) gives those of an array, store(v, p) puts them back.
template <class Fn>
HWY_INLINE void each_vector(int64_t n, const Fn& fn) {
  const F d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes)
    fn([=](const float* p) HWY_ATTR { return hn::LoadU(d, p + i); },
       [=](V v, float* p) HWY_ATTR { hn::StoreU(v, d, p + i); });
  if (i == n) return;
  HWY_ALIGN float rest[hn::MaxLanes(d)] = {};
  fn(
      [&](const float* p) HWY_ATTR {
        std::copy(p + i, p + n, rest);
        return hn::Load(d, rest);
      },
      [&](V v, float* p) HWY_ATTR {
        hn::Store(v, d, rest);
        std::copy_n(rest, n - i, p + i);
      });
}

/// update * state + (1 - update) * candidate.
HWY_INLINE V mixed(V update, V state, V candidate) { return hn::MulAdd(update, hn::Sub(state, candidate), candidate); }

void TanhCell(const float* gates, float* state, int64_t n) {
  each_vector(n, [=](const auto& load, const auto& store) HWY_ATTR { store(tanh(load(gates)), state); });
}

void ReluCell(const float* gates, float* state, int64_t n) {
  each_vector(n,
              [=](const auto& load, const auto& store) HWY_ATTR { store(hn::Max(load(gates), hn::Zero(F())), state); });
}

void LstmCell(const float* gates, float* cell, float* state, int64_t n) {
  each_vector(n, [=](const auto& load, const auto& store) HWY_ATTR {
    const V in = sigmoid(load(gates)), out = sigmoid(load(gates + n)), forget = sigmoid(load(gates + 2 * n));
    const V c = hn::MulAdd(forget, load(cell), hn::Mul(in, tanh(load(gates + 3 * n))));
    store(c, cell);
    store(hn::Mul(out, tanh(c)), state);
  });
}

void GruReset(float* gates, const float* state, float* reset_state, int64_t n) {
  each_vector(n, [=](const auto& load, const auto& store) HWY_ATTR {
    const V update = sigmoid(load(gates)), reset = sigmoid(load(gates + n));
    store(update, gates);
    store(reset, gates + n);
    store(hn::Mul(reset, load(state)), reset_state);
  });
}

void GruCell(const float* gates, float* state, int64_t n) {
  each_vector(n, [=](const auto& load, const auto& store)
                     HWY_ATTR { store(mixed(load(gates), load(state), tanh(load(gates + 2 * n))), state); });
}

void LinearGruCell(const float* input, const float* recurrent, float* state, int64_t n) {
  each_vector(n, [=](const auto& load, const auto& store) HWY_ATTR {
    const V update = sigmoid(hn::Add(load(input), load(recurrent)));
    const V reset = sigmoid(hn::Add(load(input + n), load(recurrent + n)));
    const V candidate = tanh(hn::MulAdd(reset, load(recurrent + 2 * n), load(input + 2 * n)));
    store(mixed(update, load(state), candidate), state);
  });
}

}  // namespace
}  // namespace mlopt::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mlopt::cpu {

HWY_EXPORT(TanhCell);
HWY_EXPORT(ReluCell);
HWY_EXPORT(LstmCell);
HWY_EXPORT(GruReset);
HWY_EXPORT(GruCell);
HWY_EXPORT(LinearGruCell);

void tanh_cell(const float* gates, float* state, int64_t n) { HWY_DYNAMIC_DISPATCH(TanhCell)(gates, state, n); }

void relu_cell(const float* gates, float* state, int64_t n) { HWY_DYNAMIC_DISPATCH(ReluCell)(gates, state, n); }

void lstm_cell(const float* gates, float* cell, float* state, int64_t n) {
  HWY_DYNAMIC_DISPATCH(LstmCell)(gates, cell, state, n);
}

void gru_reset(float* gates, const float* state, float* reset_state, int64_t n) {
  HWY_DYNAMIC_DISPATCH(GruReset)(gates, state, reset_state, n);
}

void gru_cell(const float* gates, float* state, int64_t n) { HWY_DYNAMIC_DISPATCH(GruCell)(gates, state, n); }

void linear_gru_cell(const float* input, const float* recurrent, float* state, int64_t n) {
  HWY_DYNAMIC_DISPATCH(LinearGruCell)(input, recurrent, state, n);
}

}  // namespace mlopt::cpu
#endif  // HWY_ONCE
