// s = z s + (1 - z) n of each entry x, with z = sigmoid(x Wz + s Rz + bz), r likewise, and n = tanh(x Wn + (r s) Rn +
// bn) or tanh(x Wn + bn + r (s Rn + cn)) -> GRU: TensorFlow's, which is exported as a Loop and resets before or after
// the product (the default), and steps that are written out, as of PyTorch's GRUCell.
// K. Cho et al., "Learning Phrase Representations using RNN Encoder-Decoder", 2014.
#include "core/rewrite/numbers.h"
#include "graphopt/passes.h"
#include "graphopt/passes/recurrent.h"

namespace mlopt::graphopt {
namespace {

/// z s + (1 - z) n.
struct Blend {
  const Value *z, *n;
};

/// n of (1 - z) n; null for other products.
const Value* beside_rest(const Value* product, const Value* z) {
  const Node* node = producer_of(product, "Mul");
  for (const int i : {0, 1}) {
    const Node* rest = node ? producer_of(node->input(i), "Sub") : nullptr;
    if (rest && rest->input(1) == z && is_number(rest->input(0), 1)) return node->input(1 - i);
  }
  return nullptr;
}

/// z of z (s - n); null for other products.
const Value* beside_difference(const Value* product, const Value* n, const Cell& cell) {
  const Node* node = producer_of(product, "Mul");
  for (const int i : {0, 1}) {
    const Node* difference = node ? producer_of(node->input(i), "Sub") : nullptr;
    if (difference && cell.is_state(difference->input(0)) && difference->input(1) == n) return node->input(1 - i);
  }
  return nullptr;
}

std::optional<Blend> blend_of(const Cell& cell) {
  const Node* sum = producer_of(cell.next(), "Add");
  for (const int i : {0, 1}) {
    if (!sum) break;
    const Value *one = sum->input(i), *other = sum->input(1 - i);
    if (const Value* z = beside_difference(one, other, cell)) return Blend{z, other};
    const Value* z = cell.factor_beside_state(one);
    if (const Value* n = z ? beside_rest(other, z) : nullptr) return Blend{z, n};
  }
  return std::nullopt;
}

/// What is reset, and how.
struct Reset {
  const Value* r;
  Gate n;
  bool after;
};

std::optional<Reset> reset_of(const Value* n, const Cell& cell) {
  if (const auto whole = cell.affine(n); whole && whole->x && whole->s) {
    const Value* r = cell.factor_beside_state(whole->state);
    return r ? std::optional(Reset{r, {*whole->x, *whole->s, whole->bias, {}}, false}) : std::nullopt;
  }
  const Node* sum = producer_of(n, "Add");
  for (const int i : {0, 1}) {
    const Node* product = sum ? producer_of(sum->input(i), "Mul") : nullptr;
    const auto x = product ? cell.affine(sum->input(1 - i)) : std::nullopt;
    if (!x || !x->x || x->s) continue;
    for (const int k : {0, 1}) {
      const auto s = cell.affine(product->input(k));
      if (s && !s->x && cell.is_of_state(*s))
        return Reset{product->input(1 - k), {*x->x, s->s, x->bias, s->bias}, true};
    }
  }
  return std::nullopt;
}

Expected<Replacement> rewrite_loop(const Match& m, Builder& builder) { return layer_of_loop(gru_of, m, builder); }
Expected<Replacement> rewrite_steps(const Match& m, Builder& builder) { return layer_of_steps(gru_of, m, builder); }

std::vector<Rule> rules() {
  return {{Pattern::op("Loop", {}).open(), rewrite_loop}, {Pattern::op("Add", {}).open(), rewrite_steps}};
}

}  // namespace

std::optional<Recurrent> gru_of(const Cell& cell) {
  const auto blend = blend_of(cell);
  const auto z = blend ? activated(blend->z) : std::nullopt, n = blend ? activated(blend->n) : std::nullopt;
  const auto reset = z && n ? reset_of(n->of, cell) : std::nullopt;
  const auto r = reset ? activated(reset->r) : std::nullopt;
  if (!r || r->by != z->by) return std::nullopt;
  Recurrent made{.op = "GRU", .gates = {}, .activations = {z->by, n->by}, .reset_after = reset->after};
  for (const Value* v : {z->of, r->of}) {
    const auto gate = cell.gate(v);
    if (!gate) return std::nullopt;
    made.gates.push_back({*gate->x, gate->s, gate->bias, {}});
  }
  made.gates.push_back(reset->n);
  return made;
}

const Pass fuse_gru = {"fuse_gru", "a gated recurrent unit in a Loop, or written out for each step, as GRU", rules};

}  // namespace mlopt::graphopt
