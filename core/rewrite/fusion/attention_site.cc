#include "core/rewrite/fusion/attention_site.h"

#include <algorithm>

#include "core/rewrite/numbers.h"

namespace mlopt::fusion {
namespace {

using Perm = std::vector<int64_t>;

/// The only reader of the value is the operator below it.
bool is_inner(const Value* v) { return v->producer && v->uses.size() == 1 && !v->is_output(); }

/// The producer of a value that nothing else reads.
const Node* made_by(const Value* v, std::string_view op, std::string_view domain = "") {
  return is_inner(v) && v->producer->is(op, domain) && v->output_index == 0 ? v->producer : nullptr;
}

/// The keys or values before each of their heads was repeated: [batch, kept, rows, size] of [batch, kept * n, rows,
/// size], and n.
std::pair<Value*, int64_t> unrepeated(Value* v, const Builder& builder) {
  const Node* joined = made_by(v, "Reshape");
  const Node* expanded = joined ? made_by(joined->input(0), "Expand") : nullptr;
  const Node* parted = expanded ? made_by(expanded->input(0), "Unsqueeze") : nullptr;
  const auto &out = v->type.dims, &wide = expanded ? expanded->output(0)->type.dims : out;
  if (!parted || !out || out->size() != 4 || !wide || wide->size() != 5) return {v, 1};
  const auto& in = parted->input(0)->type.dims;
  const auto axes = builder.view(*parted).ints("axes", 1);
  if (!in || in->size() != 4 || !axes || *axes != Perm{2}) return {v, 1};
  const auto kept = (*in)[1].value(), times = (*wide)[2].value();
  const bool fits = kept && times && same_but(*in, *out, {1}) && (*out)[1].is(*kept * *times) &&
                    SymDims{(*wide)[0], (*wide)[1], (*wide)[3], (*wide)[4]} == *in;
  return fits ? std::pair(parted->input(0), *times) : std::pair(v, int64_t{1});
}

/// x of RotaryEmbedding(x), whose tables go into the heads.
Value* unturned(Value* v, Heads& heads, const Builder& builder) {
  const Node* rope = made_by(v, "RotaryEmbedding", "com.microsoft");
  if (!rope || builder.view(*rope).get_int("interleaved", 0) != 0) return v;
  const Tensor* start = rope->input(1)->known_constant();
  if (!start || start->size() != 1 || number_at(*start, 0) != 0) return v;
  heads.cosines = rope->input(2);
  heads.sines = rope->input(3);
  return rope->input(0);
}

/// [batch, rows, heads * size] that Reshape makes [batch, rows, heads, size] of; null where v is not made so.
Value* flat_of(Value* v) {
  const Node* parted = made_by(v, "Reshape");
  const auto& out = v->type.dims;
  if (!parted || !out || out->size() != 4) return nullptr;
  const auto& in = parted->input(0)->type.dims;
  const auto count = (*out)[2].value(), size = (*out)[3].value();
  if (!in || in->size() != 3 || !count || !size || !((*in)[0] == (*out)[0]) || !((*in)[1] == (*out)[1])) return nullptr;
  return (*in)[2].is(*count * *size) ? parted->input(0) : nullptr;
}

}  // namespace

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

Scores scores_of(Value* scores) {
  Scores parts;
  const auto product_at = [&parts](Value* v) {
    double scale = 1;
    Value* product = is_inner(v) ? unscaled(v, scale) : v;
    if (!is_inner(v) || !is_inner(product) || !product->producer->is("MatMul")) return false;
    parts.scale = scale;
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

bool same_but(const SymDims& a, const SymDims& b, std::initializer_list<size_t> other) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i)
    if (std::find(other.begin(), other.end(), i) == other.end() && !(a[i] == b[i])) return false;
  return true;
}

std::optional<Heads> heads_of(Value* v, bool turned, bool rotated, const Builder& builder) {
  Heads heads;
  const auto transposed = [&](Value* made, const Perm& perm) -> Value* {
    const Node* node = made_by(made, "Transpose");
    return node && builder.view(*node).get_ints("perm") == perm ? node->input(0) : nullptr;
  };
  Value* split = turned ? transposed(v, {0, 2, 3, 1}) : nullptr;  // [batch, rows, heads, size]
  if (turned && !split) {
    v = transposed(v, {0, 1, 3, 2});
    if (!v) return std::nullopt;
  }
  if (!split) {
    std::tie(v, heads.repeats) = unrepeated(v, builder);
    heads.value = rotated ? unturned(v, heads, builder) : v;
    split = transposed(heads.value, {0, 2, 1, 3});
  }
  const auto& dims = heads.value ? heads.value->type.dims : split->type.dims;
  const size_t row_axis = heads.value ? 2 : 1;
  if (!dims || dims->size() != 4) return std::nullopt;
  const auto count = (*dims)[3 - row_axis].value(), size = dims->back().value();
  heads.flat = split ? flat_of(split) : nullptr;
  if (!count || !size || (!heads.value && !heads.flat)) return std::nullopt;
  if (heads.flat) heads.flat = unscaled(heads.flat, heads.scale);
  heads.batch = dims->front(), heads.rows = (*dims)[row_axis];
  heads.count = *count, heads.size = *size;
  return heads;
}

}  // namespace mlopt::fusion
