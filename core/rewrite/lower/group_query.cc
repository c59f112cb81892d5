// com.microsoft's GroupQueryAttention of whole samples without a past -> RotaryEmbedding and the standard's Attention,
// which have gradients.
#include "core/ir/group_query.h"

#include <algorithm>
#include <optional>

#include "core/rewrite/lower/key_masks.h"
#include "core/rewrite/lower/passes.h"
#include "core/tensor/cast.h"

namespace mlopt::lower {
namespace {

using namespace group_query;

/// float32 [batch, rows, width].
std::optional<Dims> rows_of(const Value* v) {
  const auto dims = v && v->type.dtype == DType::kF32 ? v->type.static_dims() : std::nullopt;
  return dims && dims->size() == 3 ? dims : std::nullopt;
}

/// Is it a constant of nothing but this number?
bool is_all(const Value* v, int64_t number) {
  const Tensor* t = v ? v->known_constant() : nullptr;
  if (!t || !is_integer(t->dtype())) return false;
  const std::vector<int64_t> all = to_ints(*t);
  return std::all_of(all.begin(), all.end(), [=](int64_t x) { return x == number; });
}

struct Heads {
  Value *q, *k, *v;  ///< [batch, rows, heads * size]
  int64_t count, shared, size;
};

std::optional<Heads> heads_of(const NodeView& view, Builder& b) {
  const Node& node = view.node();
  const auto x = rows_of(node.input(kQuery));
  const int64_t count = view.get_int("num_heads", 0), shared = view.get_int("kv_num_heads", 0);
  if (!x || count < 1 || shared < 1 || count % shared != 0) return std::nullopt;
  if (node.input(kKey)) {
    const auto k = rows_of(node.input(kKey)), v = rows_of(node.input(kValue));
    const int64_t size = (*x)[2] / count;
    if (!k || !v || (*x)[2] % count != 0 || *k != Dims{(*x)[0], (*x)[1], shared * size} || *v != *k)
      return std::nullopt;
    return Heads{node.input(kQuery), node.input(kKey), node.input(kValue), count, shared, size};
  }
  const int64_t size = (*x)[2] / (count + 2 * shared);
  if ((*x)[2] % (count + 2 * shared) != 0) return std::nullopt;
  const auto part = [&](int64_t from, int64_t heads) {
    const auto list = [&](const char* name, int64_t n) { return b.constant(name, Tensor::ints({n})); };
    return b.op("Slice",
                {node.input(kQuery), list("from", from * size), list("to", (from + heads) * size), list("axis", 2)});
  };
  return Heads{part(0, count), part(count, shared), part(count + shared, shared), count, shared, size};
}

/// Turned by their rows.
Value* turned(Value* x, int64_t heads, const NodeView& view, Builder& b) {
  const Node& node = view.node();
  const auto table = node.input(kCosines)->type.static_dims();
  const std::vector<Attr> attrs{{"num_heads", heads, ""},
                                {"interleaved", view.get_int("rotary_interleaved", 0), ""},
                                {"rotary_embedding_dim", 2 * table->back(), ""}};
  Value* start = b.constant("start", Tensor::ints({0}));
  return b.contrib("RotaryEmbedding", {x, start, node.input(kCosines), node.input(kSines)}, attrs, x->type);
}

/// What keeps it from being the two operators.
const char* refused(const NodeView& view, int64_t rows) {
  const Node& node = view.node();
  if (node.input(kPastKey) || node.outputs().size() > 1) return "keys of before are given or wanted";
  if (!is_all(node.input(kLast), rows - 1) || !is_all(node.input(kTotal), rows)) return "samples may be shorter";
  if (node.input(kPositions) || node.input(kSinks) || view.get_int("smooth_softmax", 0) == 1)
    return "positions or sinks are given";
  if (view.get_int("do_rotary", 0) != 0 && !(node.input(kCosines) && node.input(kCosines)->type.static_dims()))
    return "the tables are not known";
  return nullptr;
}

Expected<Replacement> rewrite(const Match& m, Builder& b) {
  const NodeView view = b.view(*m.root);
  const auto x = rows_of(m.root->input(kQuery));
  if (!x || b.opset() < 13) return Decline{"it is not float32 of known shape"};
  if (const char* why = refused(view, (*x)[1])) return Decline{why};
  const auto heads = heads_of(view, b);
  if (!heads) return Decline{"the heads do not fit"};
  const bool turns = view.get_int("do_rotary", 0) != 0;
  std::vector<Value*> inputs{turns ? turned(heads->q, heads->count, view, b) : heads->q,
                             turns ? turned(heads->k, heads->shared, view, b) : heads->k, heads->v};
  const int64_t window = view.get_int("local_window_size", -1);
  auto hidden = hidden_keys({window > 0 ? window - 1 : -1, 0}, (*x)[1], (*x)[1], 0);
  if (!hidden) return hidden.error();
  inputs.push_back(joined_masks(m.root->input(kMask), b.constant("later", *std::move(hidden)), b));
  std::vector<Attr> attrs{{"q_num_heads", heads->count, ""}, {"kv_num_heads", heads->shared, ""}};
  if (const float scale = view.get_float("scale", 0); scale != 0) attrs.push_back({"scale", scale, ""});
  if (const float cap = view.get_float("softcap", 0); cap > 0) attrs.push_back({"softcap", cap, ""});
  return Replacement{b.op("Attention", std::move(inputs), std::move(attrs), m.root->output(0)->type)};
}

std::vector<Rule> rules() { return {{Pattern::op("GroupQueryAttention", {}).open().domain("com.microsoft"), rewrite}}; }

}  // namespace

const Pass group_query = {"group_query", "GroupQueryAttention without a past as rotation and attention", rules};

}  // namespace mlopt::lower
