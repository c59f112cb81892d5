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

/// Do queries, keys and values fit, and the result [batch, rows, heads * size]?
bool fit(const Heads& q, const Heads& k, const Heads& v, const std::optional<SymDims>& out) {
  const bool heads = q.count == k.count * k.repeats && q.count == v.count * v.repeats && q.repeats == 1 &&
                     k.count == v.count && q.size == k.size && v.scale == 1 && !v.cosines;
  const bool keys = k.rows == v.rows && q.batch == k.batch && q.batch == v.batch;
  return heads && keys && out && *out == SymDims{q.batch, q.rows, v.size * q.count};
}

Expected<Site> site_of(const Match& m, bool rotated, const Builder& builder) {
  Value* probabilities = m.node("softmax")->output(0);
  const int64_t axis = builder.view(*m.node("softmax")).get_int("axis", builder.opset() < 13 ? 1 : -1);
  if (axis != -1 && axis != 3) return Decline{"another axis than the keys"};
  if (probabilities->type.dtype != DType::kF32) return Decline{"it is not float32"};
  const Scores scores = scores_of(m.value("scores"));
  if (!scores.q) return Decline{"the scores are not a product"};
  const auto q = heads_of(scores.q, false, rotated, builder), k = heads_of(scores.k, true, rotated, builder),
             v = heads_of(m.value("v"), false, false, builder);
  if (!q || !k || !v) return Decline{"queries, keys or values are not split into heads"};
  if (!fit(*q, *k, *v, m.root->output(0)->type.dims)) return Decline{"the heads do not fit one another"};
  Site site{*q, *k, *v, scores.mask, false, scores.scale * q->scale * k->scale, m.root->output(0)->type};
  if (site.mask && is_causal(site.mask, builder)) site.mask = nullptr, site.causal = true;
  return site;
}

/// Has the mask the shape [batch or 1, heads or 1, rows, keys]?
bool is_whole(const Site& s) {
  const auto& mask = s.mask->type.dims;
  return mask && mask->size() == 4 && ((*mask)[0].is(1) || (*mask)[0] == s.q.batch) &&
         ((*mask)[1].is(1) || (*mask)[1].is(s.q.count)) && (*mask)[2] == s.q.rows && (*mask)[3] == s.k.rows;
}

/// [batch, rows, heads * size], joined where it was not split from such a value.
Value* flattened(const Heads& heads, Builder& builder) {
  if (heads.flat) return heads.flat;
  const int64_t width = heads.count * heads.size;
  Value* rows = builder.op("Transpose", {heads.value}, {{"perm", std::vector<int64_t>{0, 2, 1, 3}, ""}},
                           Type::tensor(DType::kF32, SymDims{heads.batch, heads.rows, heads.count, heads.size}));
  Value* shape = builder.constant("joined_shape", Tensor::ints({0, 0, width}));
  return builder.op("Reshape", {rows, shape}, {}, Type::tensor(DType::kF32, SymDims{heads.batch, heads.rows, width}));
}

Attr number(const char* name, double x) { return {name, static_cast<float>(x), ""}; }
Attr integer(const char* name, int64_t x) { return {name, x, ""}; }

/// The inputs for a mask of padding and one that is added, and their attribute. False: there is no way to say it.
bool add_mask(const Site& s, std::vector<Value*>& inputs, size_t padding_at, size_t added_at, std::vector<Attr>& attrs,
              Builder& builder) {
  if (s.causal) attrs.push_back(integer("unidirectional", 1));
  if (!s.mask) return true;
  const auto padding = padding_of(s.mask);
  const bool fits = padding && *padding->keys->type.dims == SymDims{s.q.batch, s.k.rows};
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
  if (!s.q.flat || !s.k.flat || !s.v.flat) return std::nullopt;
  const auto q = projection_of(s.q.flat), k = projection_of(s.k.flat), v = projection_of(s.v.flat);
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
    const Heads* parts[] = {&s.q, &s.k, &s.v};
    for (size_t i = 0; i < 3; ++i) inputs[i] = flattened(*parts[i], builder);
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
  if (s.q.cosines != s.k.cosines || s.q.sines != s.k.sines) return Decline{"queries and keys are rotated differently"};
  if (s.q.size != s.v.size || s.q.size % 8 != 0) return Decline{"the size of a head is not supported"};
  if (!(s.q.rows == s.k.rows)) return Decline{"there are more keys than queries"};
  const auto lengths = lengths_of(s.q.batch, s.q.rows, builder);
  if (!lengths) return Decline{"no input of the graph has batch and rows as axes"};
  std::vector<Value*> inputs{nullptr, nullptr, nullptr, nullptr, nullptr, lengths->last, lengths->total};
  const auto projections = packed(s);
  if (projections && std::none_of(projections->begin(), projections->end(), [](const auto& p) { return p.bias; })) {
    inputs[0] = builder.op("MatMul", {projections->front().x, joined_weights(*projections, builder)});
  } else {
    const Heads* parts[] = {&s.q, &s.k, &s.v};
    for (size_t i = 0; i < 3; ++i) inputs[i] = flattened(*parts[i], builder);
  }
  std::vector<Attr> attrs{integer("num_heads", s.q.count), integer("kv_num_heads", s.k.count),
                          number("scale", s.scale)};
  if (s.q.cosines) {
    inputs.push_back(s.q.cosines);
    inputs.push_back(s.q.sines);
    attrs.push_back(integer("do_rotary", 1));
  }
  return Replacement{builder.contrib("GroupQueryAttention", std::move(inputs), std::move(attrs), s.type)};
}

/// The standard's operator, whose mask repeats as in a sum.
Replacement standard(const Site& s, Builder& builder) {
  std::vector<Value*> inputs;
  for (const Heads* heads : {&s.q, &s.k, &s.v}) inputs.push_back(flattened(*heads, builder));
  if (s.mask) inputs.push_back(s.mask);
  std::vector<Attr> attrs{integer("q_num_heads", s.q.count), integer("kv_num_heads", s.k.count),
                          number("scale", s.scale)};
  if (s.causal) attrs.push_back(integer("is_causal", 1));
  return {builder.op("Attention", std::move(inputs), std::move(attrs), s.type)};
}

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  if (builder.view(*m.node("turn")).get_ints("perm") != std::vector<int64_t>{0, 2, 1, 3})
    return Decline{"the heads are not joined"};
  const bool contrib = builder.target == Target::kOrt;
  auto site = site_of(m, contrib, builder);
  if (site && site->q.cosines && !site->causal) site = site_of(m, false, builder);  // rotated before, by itself
  if (!site) return site.error();
  if (!contrib && !builder.has(23)) return Decline{"Attention needs opset 23"};
  if (!contrib && site->causal && !(site->q.rows == site->k.rows)) return Decline{"there are more keys than queries"};
  if (!contrib) return standard(*site, builder);
  if (site->k.repeats == 1 && !site->q.cosines && !site->k.cosines) return multi_head(*site, builder);
  return group_query(*site, builder);
}

std::vector<Rule> rules() {
  Pattern softmax = Pattern::op("Softmax", {Pattern::any("scores")}).as("softmax").single_use();
  Pattern product = Pattern::op("MatMul", {std::move(softmax), Pattern::any("v")}).single_use();
  Pattern turn = Pattern::op("Transpose", {std::move(product)}).as("turn").single_use();
  return {{Pattern::op("Reshape", {std::move(turn), Pattern::any("shape")}), rewrite}};
}

}  // namespace

const Pass attention = {"fuse_attention", "heads, scores, softmax and values as one operator", rules};

}  // namespace mlopt::fusion
