#include <cmath>

#include "core/autodiff/rules.h"
#include "core/ir/key_window.h"

namespace mlopt::autodiff {
namespace {

enum Input { kQuery, kKey, kValue, kMask };

void require_plain(const GradArgs& a) {
  for (int i = kMask + 1; i < a.inputs(); ++i)
    if (a.in(i)) a.refuse("earlier keys or lengths are given");
  for (size_t i = 1; i < a.view.node().outputs().size(); ++i)
    if (a.grad(static_cast<int>(i))) a.refuse("the loss depends on more than its result");
  const auto heads = [&](int i) { return a.in(i) && a.dims(a.in(i)).size() == 4 ? a.dims(a.in(i))[1] : 0; };
  const int64_t queries = heads(kQuery), keys = heads(kKey), values = heads(kValue);
  if (queries < 1 || keys < 1 || keys != values || queries % keys != 0) a.refuse("its heads are no axis");
  if (!key_window(a.view).is_open()) a.refuse("it hides keys by their position");
}

/// [batch, heads, rows, size] with each head `times` times in a row.
Value* repeated(GradArgs& a, Value* x, int64_t times) {
  if (times == 1) return x;
  const Dims d = a.dims(x);
  return a.reshaped(a.expanded(a.reshaped(x, {d[0], d[1], 1, d[2], d[3]}), {d[0], d[1], times, d[2], d[3]}),
                    {d[0], d[1] * times, d[2], d[3]});
}

/// Back to the heads that repeated() read.
Value* summed(GradArgs& a, Value* x, int64_t times) {
  if (times == 1) return x;
  const Dims d = a.dims(x);
  Value* groups = a.reshaped(x, {d[0], d[1] / times, times, d[2], d[3]});
  return a.reshaped(a.sum(groups, {2}), {d[0], d[1] / times, d[2], d[3]});
}

/// c tanh(s / c) of scores s, as tanh(s / c); null where they are not capped.
Value* capped(GradArgs& a, Value* scores, double cap) {
  return cap > 0 ? a.op("Tanh", {a.scaled(scores, 1 / cap)}) : nullptr;
}

/// Rows whose keys are all hidden are 0: so the kernels have it.
Value* probabilities(GradArgs& a, Value* scores) {
  Value* mask = a.in(kMask);
  if (mask && mask->type.dtype == DType::kBool)
    mask = a.op("Where", {mask, a.number(0, scores), a.number(-INFINITY, scores)});
  if (mask) scores = a.op("Add", {scores, mask});
  Value* p = a.op("Softmax", {scores}, {{"axis", int64_t{3}, {}}});
  return mask ? a.op("Where", {a.op("IsNaN", {p}), a.number(0, p), p}) : p;
}

/// y = P v, P = softmax(s), s = scale q k^T + mask, or c tanh(scale q k^T / c) + mask. P is computed once more: kept,
/// it would be the largest value of the forward pass (Dao et al., FlashAttention, 2022).
std::vector<Value*> attention(GradArgs& a) {
  require_plain(a);
  const Dims q = a.dims(a.in(kQuery)), k = a.dims(a.in(kKey));
  const int64_t times = q[1] / k[1];
  const double usual = 1 / std::sqrt(static_cast<double>(q[3]));
  const double scale = a.view.has("scale") ? a.view.get_float("scale", 1) : usual;
  Value *keys = repeated(a, a.in(kKey), times), *values = repeated(a, a.in(kValue), times);
  Value* scores = a.scaled(a.op("MatMul", {a.in(kQuery), a.transposed(keys, {0, 1, 3, 2})}), scale);
  const double cap = a.view.get_float("softcap", 0);
  Value* tanh = capped(a, scores, cap);
  Value* p = probabilities(a, tanh ? a.scaled(tanh, cap) : scores);
  const auto turned = [&](Value* x) { return a.transposed(x, {0, 1, 3, 2}); };
  Value* dp = a.op("MatMul", {a.grad(), turned(values)});
  Value* ds = a.own("SoftmaxGrad", {p, dp}, {{"axis", int64_t{3}, {}}}, p);
  Value* dmask = ds;
  if (tanh) ds = a.op("Sub", {ds, a.op("Mul", {ds, a.op("Mul", {tanh, tanh})})});
  Value* dq = a.scaled(a.op("MatMul", {ds, keys}), scale);
  Value* dk = a.scaled(a.op("MatMul", {turned(ds), a.in(kQuery)}), scale);
  Value* dv = a.op("MatMul", {turned(p), a.grad()});
  std::vector<Value*> grads{dq, summed(a, dk, times), summed(a, dv, times)};
  grads.resize(static_cast<size_t>(a.inputs()), nullptr);
  if (a.needs(kMask)) grads[kMask] = dmask;
  return grads;
}

/// Pairs turned by an angle: turned back by it.
std::vector<Value*> rotary_embedding(GradArgs& a) {
  const int sines = a.view.node().domain.empty() ? 2 : 3;
  if (sines >= a.inputs() || !a.in(sines)) a.refuse("it has no sines");
  for (int i = 1; i < a.inputs(); ++i)
    if (a.needs(i)) a.refuse("its angles are trained");
  std::vector<Value*> inputs = a.view.node().inputs();
  inputs[0] = a.grad();
  inputs[static_cast<size_t>(sines)] = a.op("Neg", {a.in(sines)});
  std::vector<Value*> grads(inputs.size(), nullptr);
  grads[0] = a.again(std::move(inputs));
  return grads;
}

constexpr GradRule kRules[] = {
    {"Attention", attention},
    {"RotaryEmbedding", rotary_embedding},
    {"RotaryEmbedding", rotary_embedding, "com.microsoft"},
};

}  // namespace

std::span<const GradRule> attention_rules() { return kRules; }

}  // namespace mlopt::autodiff
