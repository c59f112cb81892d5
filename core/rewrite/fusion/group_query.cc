// com.microsoft's GroupQueryAttention.
#include <algorithm>

#include "core/rewrite/fusion/attention_parts.h"
#include "core/rewrite/fusion/attention_past.h"
#include "core/rewrite/fusion/lengths.h"
#include "core/rewrite/fusion/twins.h"

namespace mlopt::fusion {
namespace {

Attr number(const char* name, double x) { return {name, static_cast<float>(x), ""}; }
Attr integer(const char* name, int64_t x) { return {name, x, ""}; }

/// One row, behind everything that it may see.
bool is_last_row(const Site& s) { return s.k.past && s.q.rows.is(1); }

/// Are later keys hidden, whatever else is?
bool hides_order(const Site& s) { return s.causal || s.ordered || s.window > 0 || is_last_row(s); }

/// The site with the mask that is left when later keys are hidden by the operator. It hides them for good: a sum of
/// finite numbers with another mask still shows them to rows that the other leaves no key, so that it is not taken
/// apart.
Site besides_order(const Site& s) {
  Site other = s;
  if (s.causal || s.ordered || s.window > 0) other.mask = nullptr, other.choice = {};
  return other;
}

}  // namespace

bool suits_group_query(const Site& s) {
  return hides_order(s) && (!s.k.past || (s.k.made == s.q.rows && (s.q.rows.is(1) || s.q.batch.is(1))));
}

bool turns_heads(const Site& s) {
  if (!s.q.cosines || !s.k.cosines || s.q.interleaved != s.k.interleaved) return false;
  const auto& table = s.q.cosines->type.dims;
  const auto half = table && table->size() == 2 ? table->back().value() : std::nullopt;
  return half && *half % 8 == 0 && s.q.size % 16 == 0 && are_twins(s.q.cosines, s.k.cosines) &&
         are_twins(s.q.sines, s.k.sines);
}

Expected<Replacement> group_query(const Site& s, Builder& builder) {
  if (!hides_order(s)) return Decline{"groups of queries with a mask that is not causal"};
  if (!suits_group_query(s))
    return Decline{"groups of queries with a past need one sample (--batch 1) or one row in ONNX Runtime"};
  if ((s.q.cosines || s.k.cosines) && !turns_heads(s)) return Decline{"queries and keys are rotated differently"};
  if (s.q.size != s.v.size || s.q.size % 8 != 0) return Decline{"the size of a head is not supported"};
  if (!s.k.past && !(s.q.rows == s.k.rows)) return Decline{"there are more keys than queries"};
  const Site other = besides_order(s);
  Value* added = other.mask || other.choice.condition ? whole_mask(other, builder) : nullptr;
  if (!added && (other.mask || other.choice.condition))
    return Decline{"the mask is not the whole [batch, heads, rows, keys]"};
  const auto lengths = lengths_of(s.q.batch, s.q.rows, s.k.past, builder);
  if (!lengths) return Decline{"no input of the graph has batch and rows as axes"};
  std::vector<Value*> inputs{nullptr, nullptr, nullptr, nullptr, nullptr, lengths->last, lengths->total};
  const auto projections = packed(s);
  if (Value* whole = whole_of(s, builder)) {
    inputs[0] = whole;
  } else if (projections &&
             std::none_of(projections->begin(), projections->end(), [](const auto& p) { return p.bias; })) {
    inputs[0] = builder.op("MatMul", {projections->front().x, joined_weights(*projections, builder)});
  } else {
    const Heads* parts[] = {&s.q, &s.k, &s.v};
    for (size_t i = 0; i < 3; ++i) inputs[i] = flattened(*parts[i], builder);
  }
  std::vector<Attr> attrs{integer("num_heads", s.q.count), integer("kv_num_heads", s.k.count),
                          number("scale", s.scale)};
  if (s.window > 0) attrs.push_back(integer("local_window_size", s.window));
  if (s.cap != 0) attrs.push_back(number("softcap", s.cap));
  if (s.q.cosines) {
    inputs.push_back(s.q.cosines);
    inputs.push_back(s.q.sines);
    attrs.push_back(integer("do_rotary", 1));
    if (s.q.interleaved) attrs.push_back(integer("rotary_interleaved", 1));
  }
  if (added) {
    inputs.resize(11, nullptr);
    inputs.back() = added;
  }
  if (s.k.past)
    return Replacement{
        with_past("GroupQueryAttention", s.k, s.v, s.type, std::move(inputs), std::move(attrs), builder)};
  return Replacement{builder.contrib("GroupQueryAttention", std::move(inputs), std::move(attrs), s.type)};
}

}  // namespace mlopt::fusion
