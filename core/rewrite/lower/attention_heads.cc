// Attention in forms that keep heads side by side or hide later keys -> the standard's over heads as an axis with a
// mask of numbers, as kernels take it: com.microsoft's Attention and MultiHeadAttention, and the standard's own.
#include <algorithm>
#include <optional>

#include "core/rewrite/lower/key_masks.h"
#include "core/rewrite/lower/passes.h"

namespace mlopt::lower {
namespace {

/// Queries, keys or values: [batch, rows, heads * size] or [batch, heads, rows, size].
struct Operand {
  Value* value = nullptr;
  Dims dims;
};

/// softmax(scale q k^T + masks) v.
struct Parts {
  Operand q, k, v;
  int64_t heads = 0, kv_heads = 0;
  float scale = 0;  ///< 0: the usual one
  float cap = 0;    ///< of scores; 0: none
  KeyWindow window = {};
  Value* seen = nullptr;   ///< int32 [batch, keys], above 0 where a key is seen; or null
  float hidden = 0;        ///< what is added where it is not
  Value* added = nullptr;  ///< broadcasts to the scores, numbers or, in the standard's, bool; or null
};

/// Nothing unless it is float32 of a known shape.
std::optional<Dims> shape(const Value* v) {
  return v && v->type.dtype == DType::kF32 ? v->type.static_dims() : std::nullopt;
}

bool has_any(const Node& node, int from) {
  for (int i = from; i < static_cast<int>(node.inputs().size()); ++i)
    if (node.input(i)) return true;
  return false;
}

bool divides(int64_t heads, const Dims& d) {
  return heads > 0 && (d.size() == 4 ? d[1] == heads : d.size() == 3 && d[2] % heads == 0);
}

int64_t rows(const Dims& d) { return d[d.size() - 2]; }

bool masks_fit(const Parts& p, const Dims& q, const Dims& k) {
  if (p.seen && (p.seen->type.dtype != DType::kI32 || p.seen->type.static_dims() != Dims{q[0], rows(k)})) return false;
  return !p.added || ((shape(p.added) || p.added->type.dtype == DType::kBool) && covers_keys(*p.added, rows(k)));
}

/// What com.microsoft's operators have in common, but for their operands.
Parts contrib(const NodeView& view, int seen, int added) {
  Parts p;
  p.heads = p.kv_heads = view.get_int("num_heads", 0);
  p.scale = view.get_float("scale", 0);
  p.window = key_window(view);
  p.seen = view.node().input(seen);
  p.added = view.node().input(added);
  p.hidden = view.get_float("mask_filter_value", -10000);
  return p;
}

/// com.microsoft.Attention, which multiplies by the weights of all three first.
Expected<Parts> packed(const NodeView& view, Builder& b) {
  const Node& node = view.node();
  const auto x = shape(node.input(0)), w = shape(node.input(1));
  Parts p = contrib(view, 3, 5);
  if (!x || !w || x->size() != 3 || w->size() != 2 || (node.input(2) && !shape(node.input(2))))
    return Decline{"it is not float32 of known shape"};
  if (node.input(4) || has_any(node, 6) || node.outputs().size() > 1 || view.get_int("do_rotary", 0) != 0)
    return Decline{"keys of before, or turned ones, are wanted"};
  const int64_t third = (*w)[1] / 3;
  const std::vector<int64_t> equal(3, third);
  if (view.get_ints("qkv_hidden_sizes", equal) != equal || (*w)[1] != 3 * third || p.heads < 1 ||
      third % p.heads != 0 || !masks_fit(p, *x, *x))
    return Decline{"sizes differ, or masks do not fit"};
  Value* all = b.op("MatMul", {node.input(0), node.input(1)});
  if (node.input(2)) all = b.op("Add", {all, node.input(2)});
  const Dims heads{(*x)[0], p.heads, (*x)[1], third / p.heads};
  all = b.op("Reshape", {all, b.constant("shape", Tensor::ints({(*x)[0], (*x)[1], 3, p.heads, heads[3]}))});
  all = b.op("Transpose", {all}, {{"perm", std::vector<int64_t>{2, 0, 3, 1, 4}, ""}});
  Operand* const operands[] = {&p.q, &p.k, &p.v};
  for (int64_t i = 0; i < 3; ++i) {
    Value* one = b.op("Gather", {all, b.constant("part", Tensor::scalar(i))}, {{"axis", int64_t{0}, ""}});
    *operands[i] = {one, heads};
  }
  return p;
}

/// x and the part of MultiHeadAttention's bias from `from` on.
Operand biased(Value* x, const Dims& dims, const Value* bias, int64_t from, Builder& b) {
  if (!bias) return {x, dims};
  const float* at = bias->known_constant()->data<float>() + from;
  const Tensor part = Tensor::of<float>({dims[2]}, std::vector<float>(at, at + dims[2]));
  return {b.op("Add", {x, b.constant("bias", part)}), dims};
}

Expected<Parts> multi_head(const NodeView& view, Builder& b) {
  const Node& node = view.node();
  const auto q = shape(node.input(0)), k = shape(node.input(1)), v = shape(node.input(2));
  Parts p = contrib(view, 4, 5);
  if (!q || !k || !v || q->size() != 3 || k->size() != v->size() || !divides(p.heads, *q) || !divides(p.heads, *k) ||
      !divides(p.heads, *v))
    return Decline{"it is not float32 of known shape, or packed"};
  if (has_any(node, 6) || node.outputs().size() > 1) return Decline{"keys of before are given or wanted"};
  const Value* bias = node.input(3);
  const Tensor* numbers = bias ? bias->known_constant() : nullptr;
  if (bias &&
      (!numbers || k->size() != 3 || numbers->dtype() != DType::kF32 || numbers->size() != (*q)[2] + (*k)[2] + (*v)[2]))
    return Decline{"the bias is not constant"};
  if (!masks_fit(p, *q, *k)) return Decline{"masks do not fit"};
  p.q = biased(node.input(0), *q, bias, 0, b);
  p.k = biased(node.input(1), *k, bias, (*q)[2], b);
  p.v = biased(node.input(2), *v, bias, (*q)[2] + (*k)[2], b);
  return p;
}

Expected<Parts> standard(const NodeView& view, Builder&) {
  const Node& node = view.node();
  const auto q = shape(node.input(0)), k = shape(node.input(1)), v = shape(node.input(2));
  if (!q || !k || !v || q->size() != k->size() || q->size() != v->size())
    return Decline{"it is not float32 of known shape"};
  Parts p{{node.input(0), *q}, {node.input(1), *k}, {node.input(2), *v}};
  p.window = key_window(view);
  p.added = node.input(3);
  if (q->size() == 4 && p.window.is_open() && (!p.added || p.added->type.dtype != DType::kBool))
    return Decline{"heads are an axis"};
  p.heads = q->size() == 4 ? (*q)[1] : view.get_int("q_num_heads", 0);
  p.kv_heads = q->size() == 4 ? (*k)[1] : view.get_int("kv_num_heads", 0);
  p.scale = view.get_float("scale", 0);
  if (has_any(node, 4) || node.outputs().size() > 1) return Decline{"keys of before are given or wanted"};
  p.cap = view.get_float("softcap", 0);
  if (!divides(p.heads, *q) || !divides(p.kv_heads, *k) || !divides(p.kv_heads, *v) || !masks_fit(p, *q, *k))
    return Decline{"sizes or masks do not fit"};
  return p;
}

/// [batch, heads, rows, size].
Value* as_heads(const Operand& o, int64_t heads, Builder& b) {
  if (o.dims.size() == 4) return o.value;
  const Tensor shape = Tensor::ints({o.dims[0], o.dims[1], heads, o.dims[2] / heads});
  Value* apart = b.op("Reshape", {o.value, b.constant("shape", shape)});
  return b.op("Transpose", {apart}, {{"perm", std::vector<int64_t>{0, 2, 1, 3}, ""}});
}

Value* padding(const Parts& p, Builder& b) {
  Value* seen = b.op("Greater", {p.seen, b.constant("none", Tensor::scalar(int32_t{0}))});
  Value* numbers =
      b.op("Where", {seen, b.constant("shown", Tensor::scalar(0.0F)), b.constant("hidden", Tensor::scalar(p.hidden))});
  const Dims dims = *p.seen->type.static_dims();
  return b.op("Reshape", {numbers, b.constant("shape", Tensor::ints({dims[0], 1, 1, dims[1]}))});
}

Value* mask_of(const Parts& p, const std::optional<Tensor>& others, Builder& b) {
  Value* mask = mask_numbers(p.added, b);
  if (p.seen) mask = joined_masks(mask, padding(p, b), b);
  return others ? joined_masks(mask, b.constant("others", *others), b) : mask;
}

template <Expected<Parts> (*read)(const NodeView&, Builder&)>
Expected<Replacement> rewrite(const Match& m, Builder& b) {
  if (b.opset() < 13) return Decline{"other operators are of an older opset"};
  const bool side_by_side = !m.root->domain.empty() || m.root->input(0)->type.dims.value_or(SymDims()).size() == 3;
  const Expected<Parts> found = read(b.view(*m.root), b);
  if (!found) return found.error();
  const Parts& p = *found;
  std::optional<Tensor> others;
  if (!p.window.is_open()) {
    auto hidden = hidden_keys(p.window, rows(p.q.dims), rows(p.k.dims), 0);
    if (!hidden) return hidden.error();
    others = *std::move(hidden);
    // ONNX Runtime's last query sees all keys, however many more of them there are.
    const int64_t keys = rows(p.k.dims), last = others->size() - keys;
    if (!m.root->domain.empty() && last >= 0) std::fill_n(others->mutable_data<float>() + last, keys, 0.0F);
  }
  std::vector<Value*> inputs{as_heads(p.q, p.heads, b), as_heads(p.k, p.kv_heads, b), as_heads(p.v, p.kv_heads, b)};
  std::vector<Attr> attrs;
  if (Value* mask = mask_of(p, others, b)) {
    inputs.push_back(mask);
    // The standard's gives zeros for a row whose keys are all hidden.
    if (!m.root->domain.empty()) attrs.push_back({"hidden_are_nan", int64_t{1}, ""});
  }
  if (p.scale != 0) attrs.push_back({"scale", p.scale, ""});
  if (p.cap != 0) attrs.push_back({"softcap", p.cap, ""});
  Value* y = b.op("Attention", std::move(inputs), std::move(attrs));
  if (!side_by_side) return Replacement{y};
  y = b.op("Transpose", {y}, {{"perm", std::vector<int64_t>{0, 2, 1, 3}, ""}});
  return Replacement{b.op("Reshape", {y, b.constant("shape", Tensor::ints({0, 0, -1}))})};
}

std::vector<Rule> rules() {
  return {{Pattern::op("Attention", {}).open().domain("com.microsoft"), rewrite<packed>},
          {Pattern::op("MultiHeadAttention", {}).open().domain("com.microsoft"), rewrite<multi_head>},
          {Pattern::op("Attention", {}).open(), rewrite<standard>}};
}

}  // namespace

const Pass attention_heads = {"attention_heads", "attention over heads as an axis, with a mask of numbers", rules};

}  // namespace mlopt::lower
