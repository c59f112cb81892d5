// Softmax(scale q k^T + mask) v of heads that are split before and joined after -> com.microsoft's Attention,
// MultiHeadAttention or GroupQueryAttention for ONNX Runtime, Attention of the standard from opset 23 on.
#include <algorithm>
#include <array>

#include "core/rewrite/fusion/attention_site.h"
#include "core/rewrite/fusion/lengths.h"
#include "core/rewrite/fusion/mask.h"
#include "core/rewrite/fusion/passes.h"
#include "core/rewrite/fusion/projection.h"

namespace mlopt::fusion {
namespace {

/// Attention as the operators spell it.
struct Site {
  Heads q, k, v;
  Value* mask = nullptr;
  bool causal = false;
  double scale = 1;
  Type type;  ///< of the result, [batch, rows, heads * size]
};

Expected<Site> site_of(const Match& m, const Builder& builder) {
  Value* probabilities = m.node("softmax")->output(0);
  const int64_t axis = builder.view(*m.node("softmax")).get_int("axis", builder.opset() < 13 ? 1 : -1);
  if (axis != -1 && axis != 3) return Decline{"another axis than the keys"};
  if (probabilities->type.dtype != DType::kF32) return Decline{"it is not float32"};
  const Scores scores = scores_of(m.value("scores"));
  if (!scores.q) return Decline{"the scores are not a product"};
  const auto q = heads_of(scores.q, false, builder), k = heads_of(scores.k, true, builder),
             v = heads_of(m.value("v"), false, builder);
  if (!q || !k || !v) return Decline{"queries, keys or values are not split into heads"};
  Site site{*q, *k, *v, scores.mask, false, scores.scale * q->scale * k->scale, m.root->output(0)->type};
  if (site.mask && is_causal(site.mask, builder)) site.mask = nullptr, site.causal = true;
  const auto &in = q->flat->type.dims, &keys = k->flat->type.dims, &out = m.root->output(0)->type.dims;
  const bool heads = q->count == k->count * k->repeats && q->count == v->count * v->repeats && q->repeats == 1 &&
                     k->count == v->count && q->size == k->size && v->scale == 1 && !v->table;
  if (!heads || !in || !keys || !out || out->size() != 3) return Decline{"the heads do not fit one another"};
  if (!same_but(*keys, *v->flat->type.dims, {2}) || !((*in)[0] == (*keys)[0]) || !((*in)[0] == (*out)[0]) ||
      !((*in)[1] == (*out)[1]) || !out->back().is(v->size * q->count))
    return Decline{"the heads are not joined as they were split"};
  return site;
}

/// Has the mask the shape [batch or 1, heads or 1, rows, keys]?
bool is_whole(const Site& s) {
  const auto& mask = s.mask->type.dims;
  const SymDims &q = *s.q.flat->type.dims, &k = *s.k.flat->type.dims;
  return mask && mask->size() == 4 && ((*mask)[0].is(1) || (*mask)[0] == q[0]) &&
         ((*mask)[1].is(1) || (*mask)[1].is(s.q.count)) && (*mask)[2] == q[1] && (*mask)[3] == k[1];
}

Attr number(const char* name, double x) { return {name, static_cast<float>(x), ""}; }
Attr integer(const char* name, int64_t x) { return {name, x, ""}; }

/// The inputs for a mask of padding and one that is added, and their attribute. False: there is no way to say it.
bool add_mask(const Site& s, std::vector<Value*>& inputs, size_t padding_at, size_t added_at, std::vector<Attr>& attrs,
              Builder& builder) {
  if (s.causal) attrs.push_back(integer("unidirectional", 1));
  if (!s.mask) return true;
  const auto padding = padding_of(s.mask);
  const bool fits = padding && (*padding->keys->type.dims)[0] == (*s.q.flat->type.dims)[0] &&
                    (*padding->keys->type.dims)[1] == (*s.k.flat->type.dims)[1];
  if (!fits && !is_whole(s)) return false;
  inputs.resize((fits ? padding_at : added_at) + 1, nullptr);
  if (fits) {
    inputs.back() = builder.op("Cast", {padding->keys}, {integer("to", static_cast<int64_t>(DType::kI32))}, {});
    attrs.push_back(number("mask_filter_value", padding->hidden));
  } else {
    inputs.back() = s.mask;
  }
  return true;
}

/// The three projections of one value, to be made by one product.
std::optional<std::array<Projection, 3>> packed(const Site& s) {
  const auto q = projection_of(s.q.flat, 1), k = projection_of(s.k.flat, 1), v = projection_of(s.v.flat, 1);
  if (!q || !k || !v || q->x != k->x || q->x != v->x) return std::nullopt;
  return std::array{*q, *k, *v};
}

Expected<Replacement> multi_head(const Site& s, Builder& builder) {
  // Where nothing is hidden, MultiHeadAttention does without the scores in memory.
  const auto projections = s.mask || s.causal ? packed(s) : std::nullopt;
  std::vector<Attr> attrs{integer("num_heads", s.q.count), number("scale", s.scale)};
  std::vector<Value*> inputs(3, nullptr);
  const auto add = [&](size_t padding, size_t added) { return add_mask(s, inputs, padding, added, attrs, builder); };
  if (!(projections ? add(3, 5) : add(4, 5))) return Decline{"the mask is not the whole [batch, heads, rows, keys]"};
  if (!projections) {
    inputs[0] = s.q.flat, inputs[1] = s.k.flat, inputs[2] = s.v.flat;
    return Replacement{builder.contrib("MultiHeadAttention", std::move(inputs), std::move(attrs), s.type)};
  }
  inputs[0] = projections->front().x;
  inputs[1] = joined_weights(*projections, builder);
  inputs[2] = joined_biases(*projections, builder);
  const int64_t width = s.q.count * s.q.size, values = s.q.count * s.v.size;
  if (values != width) attrs.push_back({"qkv_hidden_sizes", std::vector<int64_t>{width, width, values}, ""});
  return Replacement{builder.contrib("Attention", std::move(inputs), std::move(attrs), s.type)};
}

Expected<Replacement> group_query(const Site& s, Builder& builder) {
  if (!s.causal) return Decline{"groups of queries with a mask that is not causal"};
  if (s.q.table != s.k.table || s.q.sines != s.k.sines) return Decline{"queries and keys are turned differently"};
  if (s.q.size != s.v.size || s.q.size % 8 != 0) return Decline{"the size of a head is not supported"};
  if (!((*s.q.flat->type.dims)[1] == (*s.k.flat->type.dims)[1])) return Decline{"there are more keys than queries"};
  const auto lengths = lengths_of(*s.q.flat, builder);
  if (!lengths) return Decline{"no input of the graph has batch and rows as axes"};
  std::vector<Value*> inputs{s.q.flat, s.k.flat, s.v.flat, nullptr, nullptr, lengths->last, lengths->total};
  const auto projections = packed(s);
  if (projections && std::none_of(projections->begin(), projections->end(), [](const auto& p) { return p.bias; })) {
    Value* all = builder.op("MatMul", {projections->front().x, joined_weights(*projections, builder)});
    inputs[0] = all, inputs[1] = inputs[2] = nullptr;
  }
  std::vector<Attr> attrs{integer("num_heads", s.q.count), integer("kv_num_heads", s.k.count),
                          number("scale", s.scale)};
  if (s.q.table) {
    inputs.push_back(s.q.table);
    inputs.push_back(s.q.sines);
    attrs.push_back(integer("do_rotary", 1));
  }
  return Replacement{builder.contrib("GroupQueryAttention", std::move(inputs), std::move(attrs), s.type)};
}

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  if (builder.view(*m.node("turn")).get_ints("perm") != std::vector<int64_t>{0, 2, 1, 3})
    return Decline{"the heads are not joined"};
  const auto site = site_of(m, builder);
  if (!site) return site.error();
  if (builder.target != Target::kOrt) return Decline{"only ONNX Runtime has it at this opset"};
  if (site->k.repeats == 1 && !site->q.table && !site->k.table) return multi_head(*site, builder);
  return group_query(*site, builder);
}

std::vector<Rule> rules() {
  Pattern softmax = Pattern::op("Softmax", {Pattern::any("scores")}).as("softmax").single_use();
  Pattern product = Pattern::op("MatMul", {std::move(softmax), Pattern::any("v")}).single_use();
  Pattern turn = Pattern::op("Transpose", {std::move(product)}).as("turn").single_use();
  return {{Pattern::op("Reshape", {std::move(turn), Pattern::any("shape")}), rewrite}};
}

}  // namespace

const Pass attention = {"fuse_attention", "heads, scores, softmax and values as one operator (--target ort)", rules};

}  // namespace mlopt::fusion
