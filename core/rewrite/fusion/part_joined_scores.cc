// Scores of attention that are computed with batch and heads as one axis, though softmax and values have two -> with
// two from the start: what is added to them alike in DeBERTa, where it repeats matrices for each sample otherwise.
#include "core/rewrite/fusion/parting.h"
#include "core/rewrite/fusion/passes.h"

namespace mlopt::fusion {
namespace {

/// What becomes [batch, heads, rows, columns] by a Reshape that only parts its first axis; nothing for others.
std::optional<Joined> joined_before(const Node& reshape) {
  const auto &from = reshape.input(0)->type.dims, &to = reshape.output(0)->type.dims;
  if (!from || !to || from->size() != 3 || to->size() != 4) return std::nullopt;
  const auto heads = (*to)[1].value();
  if (!heads || *heads < 1 || !((*from)[1] == (*to)[2] && (*from)[2] == (*to)[3])) return std::nullopt;
  return Joined{to->front(), *heads};
}

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  Value* scores = m.root->input(0);
  const auto joined = joined_before(*m.root);
  if (!joined || !is_inner(scores) || is_layout(scores->producer) || builder.opset() < 7) return Decline{};
  Parting parting(*joined, builder);
  Value* y = parting.part(scores);
  if (!y) return Decline{"an operator takes batch and heads as one axis"};
  if (parting.saved() < 0) return Decline{"there would be more operators"};
  return Replacement{y};
}

std::vector<Rule> rules() { return {{Pattern::op("Reshape", {}).open(), rewrite}}; }

}  // namespace

const Pass part_joined_scores = {"part_joined_scores", "scores whose batch and heads are one axis in four axes", rules};

}  // namespace mlopt::fusion
