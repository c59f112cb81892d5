// Attention of the standard, from opset 23 on.
#include <algorithm>
#include <cmath>

#include "core/ir/infer_types.h"
#include "core/rewrite/fusion/attention_parts.h"
#include "core/rewrite/fusion/attention_past.h"
#include "core/rewrite/fusion/lengths.h"

namespace mlopt::fusion {
namespace {

Attr number(const char* name, double x) { return {name, static_cast<float>(x), ""}; }
Attr integer(const char* name, int64_t x) { return {name, x, ""}; }

/// ONNX Runtime takes the least float for minus infinity, and makes zeros of a row that it hides whole; softmax makes
/// all keys alike there. Of this number it does so too, and scores are swallowed by either.
constexpr double kLeastTaken = -1e30;

/// The site with no lower number in the place of hidden scores.
Site within_limits(const Site& s) {
  Site other = s;
  const auto chosen = s.mask && !s.choice.condition && !s.joined ? choice_of(s.mask) : std::nullopt;
  if (chosen && std::isfinite(chosen->first.hidden) && chosen->first.hidden < kLeastTaken)
    other.mask = chosen->second, other.choice = chosen->first;
  if (std::isfinite(other.choice.hidden)) other.choice.hidden = std::max(other.choice.hidden, kLeastTaken);
  return other;
}

}  // namespace

Expected<Replacement> standard_attention(const Site& s, Builder& builder) {
  std::vector<Value*> inputs;
  const bool masked = s.mask || s.choice.condition;
  const auto mask = mask_dims(s);
  if (s.scale <= 0 && builder.target != Target::kKernels)
    return Decline{"ONNX Runtime takes no scale that is not positive"};
  if (masked && (!mask || mask->empty())) return Decline{"the shape of the mask is not known"};
  if (masked && !s.k.past && mask->size() == 4 && !infer_rules::is_choice_of(mask->front(), s.q.batch))
    return Decline{"the mask may have other samples"};
  // The standard hides keys that a mask lacks. ONNX Runtime repeats one over samples and heads only.
  const bool keys = masked && !(mask->back() == s.k.rows);
  const bool row = masked && (mask->size() < 2 || !((*mask)[mask->size() - 2] == s.q.rows));
  const bool rows = row && builder.target != Target::kKernels;
  Value* shape = keys || rows ? repeated_shape(s, rows, keys, builder) : nullptr;
  if ((keys || rows) && !shape)
    return Decline{"no input of the graph has the axes that the mask would be repeated for"};
  for (const Heads* heads : {&s.q, &s.k, &s.v}) inputs.push_back(flattened(*heads, builder));
  if (masked) inputs.push_back(added_mask(builder.target == Target::kKernels ? s : within_limits(s), builder));
  if (shape) inputs.back() = builder.op("Expand", {inputs.back(), shape});
  std::vector<Attr> attrs{integer("q_num_heads", s.q.count), integer("kv_num_heads", s.k.count),
                          number("scale", s.scale)};
  if (s.cap != 0) attrs.push_back(number("softcap", s.cap));
  if (s.causal) attrs.push_back(integer("is_causal", 1));
  if (s.k.past)
    return Replacement{with_past("Attention", s.k, s.v, s.type, std::move(inputs), std::move(attrs), builder)};
  return Replacement{builder.op("Attention", std::move(inputs), std::move(attrs), s.type)};
}

}  // namespace mlopt::fusion
