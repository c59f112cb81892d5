// The first elements of heads turned by RotaryEmbedding, beside the others -> RotaryEmbedding of whole heads that turns
// so many: GPT-NeoX, Phi, StableLM and GLM turn a part of each head.
#include "core/rewrite/axis_map.h"
#include "core/rewrite/fusion/attention_site.h"
#include "core/rewrite/fusion/passes.h"
#include "core/rewrite/fusion/rope_pairs.h"

namespace mlopt::fusion {
namespace {

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  const Node& concat = *m.root;
  const auto& dims = concat.output(0)->type.dims;
  const Node* rope = made_by(concat.input(0), "RotaryEmbedding");
  if (!rope) rope = made_by(concat.input(0), "RotaryEmbedding", "com.microsoft");
  if (!rope || concat.inputs().size() != 2) return Decline{};
  const Value* part = rope->input(0);
  Value* x = part->producer && !part->producer->inputs().empty() ? part->producer->input(0) : nullptr;
  if (!x || !dims || dims->size() != 4 || x->type.dims != *dims || !part->type.dims) return Decline{"not heads"};
  const auto size = dims->back().value(), turned = part->type.dims->back().value();
  if (!is_last_axis(builder.view(concat).get_int("axis", 0), 4) || !size || !turned ||
      !is_part(part, x, 0, *turned, builder) || !is_part(concat.input(1), x, *turned, *size - *turned, builder))
    return Decline{"not the rest of the heads"};
  const NodeView view = builder.view(*rope);
  const auto heads = (*dims)[1].value();
  if (view.get_int("rotary_embedding_dim", 0) != 0) return Decline{"it turns a part already"};
  if (!rope->domain.empty() && !heads) return Decline{"the number of heads is not known"};
  std::vector<Attr> attrs{{"rotary_embedding_dim", *turned, ""}};
  if (!rope->domain.empty()) attrs.push_back({"num_heads", *heads, ""});
  return Replacement{rotated_alike(*rope, x, attrs, concat.output(0)->type, builder)};
}

std::vector<Rule> rules() { return {{Pattern::op("Concat", {}).open(), rewrite}}; }

}  // namespace

const Pass fuse_rope_part = {"fuse_rope_part", "rotation of a part of each head, by one operator for whole heads",
                             rules};

}  // namespace mlopt::fusion
