// Attention of the standard, from opset 23 on.
#include "core/rewrite/fusion/attention_parts.h"
#include "core/rewrite/fusion/attention_past.h"
#include "core/rewrite/fusion/lengths.h"

namespace mlopt::fusion {
namespace {

Attr number(const char* name, double x) { return {name, static_cast<float>(x), ""}; }
Attr integer(const char* name, int64_t x) { return {name, x, ""}; }

}  // namespace

Expected<Replacement> standard_attention(const Site& s, Builder& builder) {
  std::vector<Value*> inputs;
  const bool masked = s.mask || s.choice.condition;
  const auto mask = mask_dims(s);
  if (masked && (!mask || mask->empty())) return Decline{"the shape of the mask is not known"};
  const bool keys = masked && mask->back() == s.k.rows;
  Value* shape = masked && !keys && s.k.past ? score_shape(s.q, s.k, builder) : nullptr;
  if (masked && !shape && !keys) return Decline{"the mask may have other keys"};
  // ONNX Runtime repeats a mask over samples and heads only.
  const bool each = masked && mask->size() > 1 && (*mask)[mask->size() - 2] == s.q.rows;
  if (masked && keys && !each && builder.target != Target::kKernels) {
    shape = row_shape(s.q.rows, builder);
    if (!shape) return Decline{"no input of the graph has the rows that the mask would be repeated for"};
  }
  for (const Heads* heads : {&s.q, &s.k, &s.v}) inputs.push_back(flattened(*heads, builder));
  if (masked) inputs.push_back(added_mask(s, builder));
  if (shape) inputs.back() = builder.op("Expand", {inputs.back(), shape});
  std::vector<Attr> attrs{integer("q_num_heads", s.q.count), integer("kv_num_heads", s.k.count),
                          number("scale", s.scale)};
  if (s.causal) attrs.push_back(integer("is_causal", 1));
  if (s.k.past)
    return Replacement{with_past("Attention", s.k, s.v, s.type, std::move(inputs), std::move(attrs), builder)};
  return Replacement{builder.op("Attention", std::move(inputs), std::move(attrs), s.type)};
}

}  // namespace mlopt::fusion
