#include "core/rewrite/fusion/attention_site.h"

#include <algorithm>
#include <cmath>

#include "core/ir/infer_types.h"
#include "core/rewrite/fusion/repeated_heads.h"
#include "core/rewrite/numbers.h"

namespace mlopt::fusion {
namespace {

using Perm = std::vector<int64_t>;

/// x of RotaryEmbedding(x), of all heads, whose tables go into the heads.
Value* unturned(Value* v, Heads& heads, const Builder& builder) {
  const Node* rope = made_by(v, "RotaryEmbedding", "com.microsoft");
  const bool rows = rope && v->type.dims && v->type.dims->size() == 3;
  if (!rope || (rows && builder.view(*rope).get_int("num_heads", 0) != heads.count)) return v;
  const Tensor* start = rope->input(1)->known_constant();
  if (!start || start->size() != 1 || number_at(*start, 0) != 0) return v;
  heads.cosines = rope->input(2);
  heads.sines = rope->input(3);
  heads.interleaved = builder.view(*rope).get_int("interleaved", 0) != 0;
  return rope->input(0);
}

/// The rows [batch, heads, made, size] that are put behind those of the past, whoever else reads all of them.
Value* behind_past(Value* v, Heads& heads, const Builder& builder) {
  const Node* joined = v->producer && v->producer->is("Concat") ? v->producer : nullptr;
  if (!joined || joined->inputs().size() != 2 || v->graph != &builder.graph) return v;
  const auto &past = joined->input(0)->type.dims, &made = joined->input(1)->type.dims, &all = v->type.dims;
  const int64_t axis = builder.view(*joined).get_int("axis", 0);
  if ((axis != 2 && axis != -2) || !past || !made || !all || all->size() != 4) return v;
  if (!same_but(*past, *all, {2}) || !same_but(*made, *all, {2}) || joined->input(0) == joined->input(1)) return v;
  heads.past = joined->input(0), heads.present = v;
  return joined->input(1);
}

/// How heads lie in a value, and what brings them to [batch, rows, heads, size].
enum class Order { kHeads, kTurned, kRows };  ///< [batch, heads, rows, size], [batch, heads, size, rows], or that

SymDims axes_of(const Heads& heads, Order order) {
  if (order == Order::kTurned) return {heads.batch, heads.count, heads.size, heads.made};
  if (order == Order::kRows) return {heads.batch, heads.made, heads.count, heads.size};
  return {heads.batch, heads.count, heads.made, heads.size};
}

const Perm& to_rows(Order order) {
  static const Perm kPerms[] = {{0, 2, 1, 3}, {0, 3, 1, 2}, {0, 1, 2, 3}};
  return kPerms[static_cast<size_t>(order)];
}

/// Finds where heads come from by the shortest way to [batch, rows, heads * size], whatever axes of length 1 there are
/// beside.
void find_source(Heads& heads, Value* v, Order order, const Builder& builder) {
  const Dim width = heads.count * heads.size;
  const SymDims axes = axes_of(heads, order);
  const std::vector<const Node*> chain = all_layouts_before(v, builder);
  const size_t own = chain.size() - static_cast<size_t>(read_once(chain));  // what follows it is read once
  for (size_t first = 0; first <= chain.size(); ++first) {
    Value* source = first < chain.size() ? chain[first]->input(0) : v;
    if (!source->type.dims) continue;
    AxisMap way(*source->type.dims);
    bool fits = true;
    for (size_t i = first; i < chain.size() && fits; ++i) fits = way.apply(*chain[i], builder);
    fits = fits && way.reshape(axes) && way.transpose(to_rows(order)) &&
           way.reshape({heads.batch, heads.made, width}) && way.writable();
    if (!fits || (heads.way && heads.way->cost() <= way.cost())) continue;
    heads.source = source;
    heads.way = std::move(way);
    heads.shared = first < own;
  }
}

}  // namespace

namespace {

/// Are the scores as many as those that are chosen? The keys are, as the values take no others.
bool repeats_none(const SymDims& scores, const SymDims& chosen) {
  if (scores.empty() || !same_but(scores, chosen, {scores.size() - 1})) return false;
  return !chosen.back().known() || infer_rules::is_choice_of(scores.back(), chosen.back());
}

}  // namespace

bool is_inner(const Value* v) { return v && v->producer && v->single_use(); }

const Node* made_by(const Value* v, std::string_view op, std::string_view domain) {
  return is_inner(v) && v->producer->is(op, domain) && v->output_index == 0 ? v->producer : nullptr;
}

Value* unscaled(Value* v, double& scale) {
  const Node* node = v->producer;
  if (!node || !(node->is("Mul") || node->is("Div"))) return v;
  for (const int i : {1, 0}) {
    const auto factor = number_in(node->input(i));
    if (!factor || (i == 0 && node->is("Div")) || *factor == 0) continue;
    scale *= node->is("Div") ? 1 / *factor : *factor;
    return node->input(1 - i);
  }
  return v;
}

namespace {

/// What a product of queries and keys does besides.
struct Factors {
  double scale = 1;
  bool turned = true;  ///< as in Scores
};

/// Of MatMul, or of com.microsoft's that scales and reads the keys as they lie; nothing for others.
std::optional<Factors> factors_of(const Node& product) {
  if (product.is("MatMul")) return Factors();
  if (!product.is("FusedMatMul", "com.microsoft")) return std::nullopt;
  const NodeView view(product, 1);
  for (const char* other : {"transA", "transBatchA", "transBatchB"})
    if (view.get_int(other, 0) != 0) return std::nullopt;
  return Factors{view.get_float("alpha", 1), view.get_int("transB", 0) == 0};
}

/// What only products with numbers, and quotients by them, read between it and v.
Value* unscaled_inside(Value* v, double& scale) {
  for (Value* next = v; is_inner(v); v = next) {
    next = unscaled(v, scale);
    if (next == v) break;
  }
  return v;
}

}  // namespace

Scores scores_of(Value* scores) {
  Scores parts;
  const auto product_at = [&parts](Value* v) {
    double scale = 1, cap = 0;
    Value* product = unscaled_inside(v, scale);
    if (const Node* capped = scale > 0 ? made_by(product, "Tanh") : nullptr) {
      cap = scale;
      product = unscaled_inside(capped->input(0), scale);
    }
    const auto factors = is_inner(v) && is_inner(product) ? factors_of(*product->producer) : std::nullopt;
    if (!factors) return false;
    parts.product = v;
    parts.scale = scale * factors->scale;
    parts.cap = cap;
    parts.turned = factors->turned;
    parts.q = unscaled(product->producer->input(0), parts.scale);
    parts.k = unscaled(product->producer->input(1), parts.scale);
    return true;
  };
  if (product_at(scores) || !is_inner(scores) || !scores->producer->is("Add")) return parts;
  for (const int i : {0, 1}) {
    parts.mask = scores->producer->input(1 - i);
    if (product_at(scores->producer->input(i))) return parts;
  }
  return {};
}

namespace {

/// x of Clip(x) that has a number this low in the place of minus infinity; null for others.
Value* unlimited(const Value* v, const Builder& builder) {
  constexpr double kLowest = -1e38;
  const Node* clip = made_by(v, "Clip");
  if (!clip) return nullptr;
  const NodeView view = builder.view(*clip);
  const auto least = view.number("min", 1, 0), most = view.number("max", 2, INFINITY);
  return least && *least <= kLowest && most && *most >= -kLowest ? clip->input(0) : nullptr;
}

constexpr const char* kNoProduct = "the scores are not a product";

Expected<Scores> plain_scores(Value* scores) {
  const Scores parts = scores_of(scores);
  if (!parts.q) return Decline{kNoProduct};
  return parts;
}

Expected<Scores> chosen_scores(Value* scores) {
  double scale = 1;
  const Value* chosen = is_inner(scores) ? unscaled(scores, scale) : scores;
  auto choice = is_inner(chosen) && scale > 0 ? choice_of(chosen) : std::nullopt;
  Scores parts = choice ? scores_of(choice->second) : Scores();
  if (!parts.q || !parts.product->type.dims || !chosen->type.dims) return plain_scores(scores);
  if (!repeats_none(*parts.product->type.dims, *chosen->type.dims)) return Decline{kMayRepeat};
  if (parts.mask && scale != 1) return Decline{kNoProduct};
  parts.choice = choice->first;
  parts.choice.hidden *= scale, parts.scale *= scale, parts.cap *= scale;
  if (parts.choice.hidden > kHidden) return Decline{kHiddenBySmall};
  return parts;
}

}  // namespace

Expected<Scores> chosen_scores_of(Value* scores, const Builder& builder) {
  Value* inner = unlimited(scores, builder);
  if (!inner) return chosen_scores(scores);
  // Softmax makes zero of both, but in a row that has nothing else.
  auto parts = chosen_scores(inner);
  const bool finite = !parts || !parts->choice.condition || std::isfinite(parts->choice.hidden);
  if (parts && !(finite && leaves_keys(parts->mask))) return Decline{kNoProduct};
  return parts;
}

bool same_but(const SymDims& a, const SymDims& b, std::initializer_list<size_t> other) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i)
    if (std::find(other.begin(), other.end(), i) == other.end() && !(a[i] == b[i])) return false;
  return true;
}

std::optional<AxisMap> parted(const Dim& batch, const Dim& rows, const Dim& heads, const Dim& size) {
  AxisMap map({batch, rows, heads * size});
  return map.reshape({batch, rows, heads, size}) && map.transpose({0, 2, 1, 3}) ? std::optional(map) : std::nullopt;
}

namespace {

/// Heads that were repeated as parts of rows, [batch, rows, kept, 1, size], and then put in front of these; nothing for
/// others.
std::optional<Heads> repeated_in_rows(Value* v, bool turned, const Builder& builder) {
  const Node* turn = made_by(v, "Transpose");
  if (!turn || builder.view(*turn).get_ints("perm") != (turned ? Perm{0, 2, 3, 1} : Perm{0, 2, 1, 3}))
    return std::nullopt;
  const Kept kept = unrepeated(turn->input(0), 2);
  const auto& dims = kept.value->type.dims;
  if (kept.times == 1 || !dims || dims->size() < 4) return std::nullopt;
  const auto count = (*dims)[2].value(), size = dims->back().value();
  if (!count || !size) return std::nullopt;
  Heads heads;
  heads.batch = (*dims)[0], heads.made = heads.rows = (*dims)[1];
  heads.count = *count, heads.size = *size, heads.repeats = kept.times;
  find_source(heads, kept.value, Order::kRows, builder);
  return heads.way ? std::optional(heads) : std::nullopt;
}

}  // namespace

std::optional<Heads> heads_of(Value* v, bool turned, const Abilities& able, const Builder& builder,
                              const std::optional<Joined>& joined) {
  if (able.repeats)
    if (auto heads = repeated_in_rows(v, turned, builder)) return heads;
  Heads heads;
  const Node* turn = turned ? made_by(v, "Transpose") : nullptr;
  if (turn && builder.view(*turn).get_ints("perm") == Perm{0, 1, 3, 2}) {
    v = turn->input(0);
    turned = false;
  }
  const Kept kept = !able.repeats ? Kept{v} : turned ? unrepeated_turned(v, builder) : unrepeated(v, 1);
  v = kept.value, heads.repeats = kept.times;
  if (kept.times > 1) turned = false;
  if (!turned) {
    if (able.keeps) v = behind_past(v, heads, builder);
    if (able.rotates && !heads.past) v = unturned(v, heads, builder);
  }
  auto dims = v->type.dims;
  if (dims && dims->size() == 5 && heads.repeats > 1) dims->erase(dims->begin() + 2);
  const bool apart = dims && dims->size() == 4;
  if (dims && dims->size() == 3 && joined && dims->front() == joined->batch * joined->heads) {
    dims->front() = joined->batch;
    dims->insert(dims->begin() + 1, joined->heads);
  }
  if (!dims || dims->size() != 4) return std::nullopt;
  const auto count = (*dims)[1].value(), size = (*dims)[turned ? 2 : 3].value();
  if (!count || !size) return std::nullopt;
  heads.batch = dims->front(), heads.made = (*dims)[turned ? 3 : 2];
  heads.rows = heads.present ? (*heads.present->type.dims)[2] : heads.made;
  heads.count = *count, heads.size = *size;
  if (!turned && apart && v->type.dims->size() == 4) heads.parted = v;
  find_source(heads, v, turned ? Order::kTurned : Order::kHeads, builder);
  if (!heads.way) return std::nullopt;
  if (!heads.flat() || heads.past) return heads;
  if (able.rotates && !heads.cosines) heads.source = unturned(heads.source, heads, builder);
  heads.source = unscaled(heads.source, heads.scale);
  return heads;
}

}  // namespace mlopt::fusion
