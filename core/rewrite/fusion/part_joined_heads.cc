// Attention of matrices whose batch and heads are one axis, as torch.bmm takes them -> the same of four axes, where
// that takes fewer operators: the shapes of their Reshapes are computed where the batch is free.
#include "core/rewrite/fusion/attention_ending.h"
#include "core/rewrite/fusion/parting.h"
#include "core/rewrite/fusion/passes.h"

namespace mlopt::fusion {
namespace {

/// From [batch, heads, rows, columns] to the root.
std::optional<AxisMap> way_to_root(const Ending& end, const Joined& joined, const Builder& builder) {
  const SymDims& three = *end.product->output(0)->type.dims;
  AxisMap way({joined.batch, joined.heads, three[1], three[2]});
  if (!way.reshape(three) || !way.apply(end.chain, builder)) return std::nullopt;
  return way.writable() ? std::optional(way) : std::nullopt;
}

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  const auto end = goes_on(*m.root) ? std::nullopt : ending_at(m.root);
  const auto joined = end ? joined_in(*end, builder) : std::nullopt;
  if (!joined || end->guarded || builder.opset() < 7) return Decline{};
  const auto way = way_to_root(*end, *joined, builder);
  if (!way) return Decline{"how batch and heads were joined is not known"};
  Parting parting(*joined, builder);
  Value* y = parting.part(end->product->output(0));
  if (!y) return Decline{"an operator takes batch and heads as one axis"};
  if (parting.saved() + static_cast<int64_t>(end->chain.size()) - way->cost() <= 0)
    return Decline{"as many Reshapes would be left"};
  return Replacement{way->make(builder, y, m.root->output(0)->type)};
}

std::vector<Rule> rules() { return {{Pattern::op("Reshape|Transpose", {}).open(), rewrite}}; }

}  // namespace

const Pass part_joined_heads = {"part_joined_heads", "attention whose batch and heads are one axis in four axes",
                                rules};

}  // namespace mlopt::fusion
