// Softmax(scale q k^T + mask) v of heads that are split before and joined after -> com.microsoft's Attention,
// MultiHeadAttention or GroupQueryAttention for ONNX Runtime, Attention of the standard from opset 23 on.
#include <algorithm>
#include <array>
#include <cmath>

#include "core/ir/infer_types.h"
#include "core/rewrite/fusion/attention_ending.h"
#include "core/rewrite/fusion/attention_guard.h"
#include "core/rewrite/fusion/attention_parts.h"
#include "core/rewrite/fusion/attention_past.h"
#include "core/rewrite/fusion/counting.h"
#include "core/rewrite/fusion/joined_mask.h"
#include "core/rewrite/fusion/lengths.h"
#include "core/rewrite/fusion/order.h"
#include "core/rewrite/fusion/passes.h"
#include "core/rewrite/fusion/present_shape.h"
#include "core/tensor/dim_product.h"

namespace mlopt::fusion {
namespace {

/// A number this low and a score, of less than 3e7, give the number.
constexpr double kSwallows = -1e15;

/// Has what hides keys a row of its own for each query, and a column for each key?
bool is_for_each(const Value* v, const Site& s) {
  const auto& dims = v ? v->type.dims : std::nullopt;
  return dims && dims->size() >= 2 && dims->back() == s.k.rows && (*dims)[dims->size() - 2] == s.q.rows;
}

/// Has it one row for several queries?
bool is_for_all(const Value& v, const Site& s) {
  const auto& dims = v.type.dims;
  return dims && (dims->size() < 2 || (*dims)[dims->size() - 2].is(1)) && !s.q.rows.is(1);
}

/// The window of keys that a choice leaves, be it of scores or of what is added to them; 0 where it is another one.
int64_t window_of(const Site& s, const Dim& past, const Builder& builder) {
  const auto added = s.mask ? choice_of(s.mask) : std::nullopt;
  const Choice choice = added && only_number(added->second) == 0.0 ? added->first : s.mask ? Choice() : s.choice;
  if (!is_for_each(choice.condition, s) || !choice.seen || choice.hidden > kHidden) return 0;
  return window_in(choice.condition, past, builder).value_or(0);
}

/// Do mask or choice hide later keys? Without a past that is all that is left of them.
void find_order(Site& s, const Builder& builder) {
  if (s.mask && s.choice.condition) return;
  const Dim past = s.k.past ? (*s.k.past->type.dims)[2] : Dim(0);
  const bool rows = s.k.rows == s.q.rows + past;
  const auto causal = [&](const Value* mask) { return !is_for_all(*mask, s) && is_causal(mask, past, builder); };
  const bool ordered = s.mask ? causal(s.mask)
                              : rows && s.choice.condition && !is_for_all(*s.choice.condition, s) &&
                                    is_order(s.choice.condition, !s.choice.seen, past, builder);
  if (ordered && !s.k.past) s.mask = nullptr, s.choice = {};
  (s.k.past ? s.ordered : s.causal) = ordered;
  if (rows) s.window = window_of(s, past, builder);
}

/// Is it sure that each row keeps a key that minus infinity does not hide?
bool is_finite(const Site& s) { return (!s.choice.condition || std::isfinite(s.choice.hidden)) && leaves_keys(s.mask); }

/// Gives what hides keys, of scores whose batch and heads are one axis, both. False: that cannot be.
bool part_masks(Scores& scores, const Joined& joined, std::optional<JoinedMask>& left, const Builder& builder) {
  for (Value** v : {&scores.mask, &scores.choice.condition}) {
    if (!*v) continue;
    if (Value* before = before_joining(*v, joined, builder)) {
      *v = before;
      continue;
    }
    const auto dims = v == &scores.mask ? parted_dims(*v, joined, builder) : std::nullopt;
    if (!dims) return false;
    left = JoinedMask{joined, *dims};
  }
  return true;
}

/// Operators for attention compute with more digits than float16 has, and see scores beside a finite number that hides.
bool hides_by_infinity(const Scores& scores) {
  if (scores.choice.condition) return !scores.mask && std::isinf(scores.choice.hidden);
  const auto chosen = scores.mask ? choice_of(scores.mask) : std::nullopt;
  return !scores.mask || scores.mask->known_constant() ||
         (chosen && only_number(chosen->second) == 0.0 && std::isinf(chosen->first.hidden));
}

Expected<Site> site_of(const Ending& end, const Abilities& able, const Builder& builder) {
  const Value* probabilities = end.softmax->output(0);
  const auto joined = joined_in(end, builder);
  const int64_t rank = joined ? 3 : 4, axis = builder.view(*end.softmax).get_int("axis", builder.opset() < 13 ? 1 : -1);
  if (axis != -1 && axis != rank - 1) return Decline{"another axis than the keys"};
  if (const auto& dims = probabilities->type.dims; dims && std::ssize(*dims) != rank)
    return Decline{"the scores have other axes than samples, heads, queries and keys"};
  const DType type = probabilities->type.dtype;
  const bool half = type == DType::kF16 && builder.target != Target::kKernels;
  if (type != DType::kF32 && !half) return Decline{"it is not float32, nor float16 for a runtime"};
  auto found = chosen_scores_of(end.softmax->input(0), builder);
  if (!found) return found.error();
  Scores& scores = *found;
  std::optional<JoinedMask> joined_mask;
  if (joined && !part_masks(scores, *joined, joined_mask, builder))
    return Decline{"what hides keys has batch and heads as one axis"};
  const auto q = heads_of(scores.q, false, {able.rotates}, builder, joined);
  auto k = heads_of(scores.k, scores.turned, able, builder, joined),
       v = heads_of(end.product->input(1), false, {false, able.keeps, able.repeats}, builder, joined);
  if (!q || !k || !v) return Decline{"queries, keys or values are not split into heads"};
  // Products repeat a single head for all queries by themselves.
  for (Heads* heads : {&*k, &*v})
    if (able.repeats && heads->count == 1) heads->repeats = q->count;
  if (!fit(*q, *k, *v)) return Decline{"the heads do not fit one another"};
  if (half && !hides_by_infinity(scores)) return Decline{"float16 rounds what its mask leaves of a row without keys"};
  const Type result = Type::tensor(type, SymDims{q->batch, q->rows, q->count * v->size});
  Site site{*q, *k, *v, scores.mask, joined_mask, scores.choice};
  site.scale = scores.scale * q->scale * k->scale, site.cap = scores.cap, site.type = result;
  if (end.kept.condition && (end.kept.condition != scores.choice.condition || end.kept.seen != scores.choice.seen))
    return Decline{"probabilities are zero for other keys than those that are hidden"};
  find_order(site, builder);
  // Each row sees its own key where later ones are hidden. Rows without keys are no numbers where minus infinity hides.
  const bool kept = end.kept.condition && !site.causal && !site.ordered, finite = std::isfinite(site.choice.hidden);
  site.guarded = (end.guarded && !is_finite(site)) || (kept && !finite);
  if (kept && finite) site.kept = end.kept;
  if (site.choice.condition && !site.ordered && !kept && site.choice.hidden > kSwallows) return Decline{kHiddenBySmall};
  return site;
}

Attr number(const char* name, double x) { return {name, static_cast<float>(x), ""}; }
Attr integer(const char* name, int64_t x) { return {name, x, ""}; }

/// The condition as 1 for keys that are seen, 0 for others, [batch, keys].
Value* seen_keys(const PaddingMask& padding, const Site& s, Builder& builder) {
  Value* keys = padding.seen ? padding.keys : builder.op("Not", {padding.keys});
  keys = builder.op("Cast", {keys}, {integer("to", static_cast<int64_t>(DType::kI32))}, {});
  if (*padding.keys->type.dims == SymDims{s.q.batch, s.k.rows}) return keys;
  // One sample for all, or one key, in models whose inputs do not say that they have the same axes.
  return builder.op("Expand", {keys, leading_sizes(source_rows(s.k), 2, builder)});
}

/// Has it the batch, or one sample for all of it?
bool fits(const PaddingMask& padding, const Site& s) {
  const SymDims& dims = *padding.keys->type.dims;
  return dims == SymDims{s.q.batch, s.k.rows} ||
         (s.choice.condition && !s.k.past && infer_rules::is_choice_of(dims.front(), s.q.batch) && s.k.flat());
}

/// The inputs for a mask of padding and one that is added, and their attribute. False: there is no way to say it.
bool add_mask(const Site& s, std::vector<Value*>& inputs, size_t padding_at, size_t added_at, std::vector<Attr>& attrs,
              Builder& builder) {
  if (s.causal) attrs.push_back(integer("unidirectional", 1));
  if (!s.mask && !s.choice.condition) return true;
  const bool both = s.mask && s.choice.condition;
  const auto padding = both ? std::nullopt : s.mask ? padding_of(s.mask) : padding_of(s.choice);
  const bool padded = padding && fits(*padding, s);
  Value* mask = padded ? seen_keys(*padding, s, builder) : whole_mask(s, builder);
  if (!mask) return false;
  inputs.resize((padded ? padding_at : added_at) + 1, nullptr);
  inputs.back() = mask;
  if (padded) attrs.push_back(number("mask_filter_value", padding->hidden));
  return true;
}

/// What one product makes queries, keys and values of: x, weight and bias of com.microsoft's Attention.
std::optional<std::array<Value*, 3>> one_product(const Site& s, Builder& builder) {
  Value* whole = whole_of(s, builder);
  if (const auto one = whole ? projection_of(whole) : std::nullopt)
    return std::array{one->x, one->weight, one->bias ? one->bias : joined_biases({&*one, 1}, builder)};
  const auto all = packed(s);
  if (!all) return std::nullopt;
  return std::array{all->front().x, joined_weights(*all, builder), joined_biases(*all, builder)};
}

Expected<Replacement> multi_head(const Site& s, Builder& builder) {
  if (s.cap != 0) return Decline{"MultiHeadAttention caps no scores, and Attention needs opset 23"};
  // Where nothing is hidden, MultiHeadAttention does without the scores in memory.
  const bool hides = s.mask || s.choice.condition || s.causal;
  Value* whole = whole_of(s, builder);
  const bool projections = hides && !s.k.past && s.k.repeats == 1 && (packed(s) || (whole && projection_of(whole)));
  std::vector<Attr> attrs{integer("num_heads", s.q.count), number("scale", s.scale)};
  std::vector<Value*> inputs(3, nullptr);
  const auto add = [&](size_t padding, size_t added) { return add_mask(s, inputs, padding, added, attrs, builder); };
  // Only flat keys and values may be of two sizes.
  const bool alike = s.k.size == s.v.size;
  if (s.k.past && !alike) return Decline{"keys and values of two sizes have no cache in ONNX Runtime"};
  if (!(projections ? add(3, 5) : add(4, 5))) return Decline{"the mask is not the whole [batch, heads, rows, keys]"};
  if (!projections) {
    const bool parted = !s.k.past && alike && comes_parted(s.k) && comes_parted(s.v);
    const Heads* parts[] = {&s.q, &s.k, &s.v};
    for (size_t i = 0; i < 3; ++i)
      inputs[i] = i > 0 && parted ? heads_for_all(*parts[i], builder) : rows_for_all(*parts[i], builder);
    if (s.k.past)
      return Replacement{
          with_past("MultiHeadAttention", s.k, s.v, s.type, std::move(inputs), std::move(attrs), builder)};
    return Replacement{builder.contrib("MultiHeadAttention", std::move(inputs), std::move(attrs), s.type)};
  }
  const auto product = one_product(s, builder);
  std::copy(product->begin(), product->end(), inputs.begin());
  const int64_t width = s.q.count * s.q.size, values = s.q.count * s.v.size;
  if (values != width) attrs.push_back({"qkv_hidden_sizes", std::vector<int64_t>{width, width, values}, ""});
  return Replacement{builder.contrib("Attention", std::move(inputs), std::move(attrs), s.type)};
}

/// Does it take more than MultiHeadAttention does?
bool is_special(const Site& s) { return s.k.repeats > 1 || s.q.cosines || s.k.cosines || s.cap != 0; }

/// Can one of ONNX Runtime's operators do it by itself? One for groups of queries always hides later keys.
bool suits_contrib(const Site& s) { return !is_special(s) || suits_group_query(s); }

Expected<Replacement> write(const Site& site, Builder& builder) {
  const bool special = is_special(site);
  if (builder.target == Target::kOrt && special && suits_group_query(site)) return group_query(site, builder);
  const bool newest = special && builder.has(23);
  return builder.target == Target::kOrt && !newest ? multi_head(site, builder) : standard_attention(site, builder);
}

/// With as much as the operator to be written does by itself.
Expected<Site> best_site(const Node& root, const Ending& end, const Builder& builder) {
  const bool contrib = builder.target == Target::kOrt, newest = contrib && builder.has(23);
  if (contrib || builder.target == Target::kOnnx) {
    auto site = site_of(end, {false, true}, builder);
    if (site && site->k.past && (!contrib || newest || suits_contrib(*site)) &&
        read_late(site->k, root, builder.graph) && read_late(site->v, root, builder.graph))
      return site;
  }
  auto site = site_of(end, {contrib}, builder);
  // Only the operator that hides later keys rotates, and queries as keys; else they are rotated before, by themselves.
  const bool rotated = site && (site->q.cosines || site->k.cosines);
  if (rotated && !((site->causal || site->window > 0) && turns_heads(*site))) site = site_of(end, {}, builder);
  const bool repeats = site && contrib && !newest && !suits_contrib(*site);
  // A head that products repeat by themselves is better off there.
  const bool single = site && site->k.count == 1;
  const bool repeated =
      repeats && ((site->k.beside() && site->v.beside()) || (comes_parted(site->k) && comes_parted(site->v)));
  if (repeats && (single || !repeated)) site = site_of(end, {false, false, false}, builder);
  return site;
}

/// Are the result's elements known to be as many as there are without a mask that repeats scores?
bool keeps_size(const Node& product, const Value& result, const Site& s) {
  const auto all = [](const Value& v) { return v.type.dims ? mlopt::product(*v.type.dims) : Dim(); };
  const Dim wanted = s.q.batch * s.q.rows * Dim(s.q.count * s.v.size);
  return all(*product.output(0)) == wanted || all(result) == wanted;
}

Expected<Replacement> fuse(const Ending& end, const Match& m, Builder& builder) {
  const bool contrib = builder.target == Target::kOrt;
  const auto site = best_site(*m.root, end, builder);
  if (!site) return site.error();
  const auto scale = static_cast<float>(site->scale);
  if (scale == 0 || !std::isfinite(scale)) return Decline{"the operator would take its own scale"};
  const auto way = way_out(end.chain, site->q, site->v.size, builder, end.product->output(0)->type.dims->size() == 3);
  if (!way) return Decline{goes_on(*m.root) ? "" : "the heads are not joined"};
  const bool masked = site->mask || site->choice.condition;
  if (site->k.past && masked && !keeps_size(*end.product, *m.root->output(0), *site))
    return Decline{"the mask may repeat the scores"};
  if (builder.target == Target::kTensorrt)
    return Decline{"TensorRT finds attention by itself, and wants it in four axes"};
  if (!contrib && !builder.has(23)) return Decline{"Attention needs opset 23"};
  if (!contrib && site->causal && !(site->q.rows == site->k.rows)) return Decline{"there are more keys than queries"};
  if (site->kept.condition && !is_for_all_heads(site->kept))
    return Decline{"which rows have no keys depends on the head"};
  auto written = write(*site, builder);
  if (!written) return written;
  Value* y = site->guarded ? zero_where_nan(written->front(), builder) : written->front();
  if (site->kept.condition) y = zero_where_hidden(y, site->kept, builder);
  return Replacement{way->make(builder, y, m.root->output(0)->type)};
}

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  const auto end = ending_at(m.root);
  return end ? fuse(*end, m, builder) : Decline{};
}

Expected<Replacement> rewrite_one_head(const Match& m, Builder& builder) {
  const auto end = ending_of_one_head(m.root, builder);
  if (!end) return Decline{};
  if (!pays_for_one_head(*end, builder)) return Decline{"one head is faster as two products"};
  return fuse(*end, m, builder);
}

std::vector<Rule> rules() {
  std::vector<Rule> all = present_shape_rules();
  all.push_back({Pattern::op("Reshape|Transpose", {}).open(), rewrite});
  all.push_back({Pattern::op("MatMul", {}).open(), rewrite_one_head});
  return all;
}

}  // namespace

const Pass fuse_attention = {"fuse_attention", "heads, scores, softmax and values as one operator", rules};

}  // namespace mlopt::fusion
