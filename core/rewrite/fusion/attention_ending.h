#pragma once
#include <optional>
#include <vector>

#include "core/rewrite/axis_map.h"
#include "core/rewrite/fusion/attention_site.h"

namespace mlopt::fusion {

/// What attention ends with: softmax times values, and what is done to the result until the root of a match.
struct Ending {
  const Node *softmax = nullptr, *product = nullptr;
  bool guarded = false;  ///< rows of probabilities that are no numbers are zeros
  Choice kept = {};      ///< of probabilities that are zero where the condition hides keys, as Keras writes it
  std::vector<const Node*> chain;
};

/// Nothing where `root` ends no chain of Reshapes and Transposes behind them.
std::optional<Ending> ending_at(const Node* root);
/// The same where `product` is the root, with no chain; nothing where it has no single head: what follows takes its
/// first axis apart.
std::optional<Ending> ending_of_one_head(const Node* product, const Builder& builder);
/// Is that one head faster as one operator?
bool pays_for_one_head(const Ending& end, const Builder& builder);
/// p of Where(IsNaN(p), 0, p), which exporters write for rows whose keys are all hidden; null for other values.
const Value* unguarded(const Value* v);
/// p of Where(condition, p, 0), and the condition; nothing for other values.
std::optional<std::pair<Choice, Value*>> kept_of(const Value* v);
/// Batch and heads where they are one axis of the product that the chain takes apart, or one head is all there is.
std::optional<Joined> joined_in(const Ending& end, const Builder& builder);
/// Is there more of the chain, for which the attention will be looked at again?
bool goes_on(const Node& root);
/// From what the operator gives, the queries' batch and rows and all heads' values of this size, to what the chain
/// does; nothing where that is longer than it was, or as long and the chain goes on.
std::optional<AxisMap> way_out(const std::vector<const Node*>& chain, const Heads& q, int64_t size,
                               const Builder& builder, bool joined = false);

}  // namespace mlopt::fusion
