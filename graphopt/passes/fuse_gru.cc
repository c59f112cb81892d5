// Loop of s = z s + (1 - z) n, with z = sigmoid(x Wz + s Rz + bz), r likewise, and n = tanh(x Wn + (r s) Rn + bn) or
// tanh(x Wn + bn + r (s Rn + cn)) -> GRU: TensorFlow's, which resets before or after the product (the default).
// K. Cho et al., "Learning Phrase Representations using RNN Encoder-Decoder", 2014.
#include "core/rewrite/numbers.h"
#include "graphopt/passes.h"
#include "graphopt/passes/cell.h"

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

std::optional<Blend> blend_of(const Value* next, const Value* state) {
  const Node* sum = producer_of(next, "Add");
  for (const int i : {0, 1}) {
    const Value* z = sum ? factor_beside(sum->input(i), state) : nullptr;
    const Value* n = z ? beside_rest(sum->input(1 - i), z) : nullptr;
    if (n) return Blend{z, n};
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
    const Value* r = factor_beside(whole->state, cell.state());
    return r ? std::optional(Reset{r, {*whole->x, *whole->s, whole->bias, {}}, false}) : std::nullopt;
  }
  const Node* sum = producer_of(n, "Add");
  for (const int i : {0, 1}) {
    const Node* product = sum ? producer_of(sum->input(i), "Mul") : nullptr;
    const auto x = product ? cell.affine(sum->input(1 - i)) : std::nullopt;
    if (!x || !x->x || x->s) continue;
    for (const int k : {0, 1}) {
      const auto s = cell.affine(product->input(k));
      if (s && s->s && !s->x && s->state == cell.state())
        return Reset{product->input(1 - k), {*x->x, *s->s, x->bias, s->bias}, true};
    }
  }
  return std::nullopt;
}

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  const auto cell = Cell::of(*m.root, builder);
  if (!cell) return cell.error();
  const Decline other{"its cell is not GRU's"};
  const auto blend = blend_of(cell->next(), cell->state());
  const auto z = blend ? activated(blend->z) : std::nullopt, n = blend ? activated(blend->n) : std::nullopt;
  const auto reset = z && n ? reset_of(n->of, *cell) : std::nullopt;
  const auto r = reset ? activated(reset->r) : std::nullopt;
  if (!r || r->by != z->by) return other;
  std::vector<Gate> gates;
  for (const Value* v : {z->of, r->of}) {
    const auto gate = cell->affine(v);
    if (!gate || !gate->x || !gate->s || gate->state != cell->state()) return other;
    gates.push_back({*gate->x, *gate->s, gate->bias, {}});
  }
  gates.push_back(reset->n);
  return cell->replace(
      "GRU", gates,
      {{"activations", std::vector<std::string>{z->by, n->by}, ""}, {"linear_before_reset", int64_t{reset->after}, ""}},
      m, builder);
}

std::vector<Rule> rules() { return {{Pattern::op("Loop", {}).open(), rewrite}}; }

}  // namespace

const Pass fuse_gru = {"fuse_gru", "a Loop of a gated recurrent unit as GRU", rules};

}  // namespace mlopt::graphopt
