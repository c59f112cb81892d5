#include "core/rewrite/fusion/attention_ending.h"

#include "core/rewrite/fusion/counting.h"

namespace mlopt::fusion {

const Value* unguarded(const Value* v) {
  const Node* choice = made_by(v, "Where");
  const Node* test = choice ? made_by(choice->input(0), "IsNaN") : nullptr;
  if (!test || only_number(choice->input(1)) != 0.0) return nullptr;
  const Value* p = choice->input(2);
  return test->input(0) == p && p->uses.size() == 2 && !p->is_output() ? p : nullptr;
}

std::optional<std::pair<Choice, Value*>> kept_of(const Value* v) {
  const Node* choice = made_by(v, "Where");
  for (const int i : {1, 2})
    if (choice && only_number(choice->input(i)) == 0.0)
      return std::pair(Choice{choice->input(0), i == 2, 0}, choice->input(3 - i));
  return std::nullopt;
}

std::optional<Ending> ending_at(const Node* root) {
  Ending end;
  end.chain = layout_chain(root);
  end.product = made_by(end.chain.front()->input(0), "MatMul");
  if (!end.product) return std::nullopt;
  const Value* probabilities = end.product->input(0);
  const Value* inner = unguarded(probabilities);
  end.guarded = inner != nullptr;
  if (const auto kept = inner ? std::nullopt : kept_of(probabilities)) {
    end.kept = kept->first;
    probabilities = kept->second;
  }
  end.softmax = inner ? inner->producer : made_by(probabilities, "Softmax");
  return end.softmax && end.softmax->is("Softmax") ? std::optional(end) : std::nullopt;
}

std::optional<Joined> joined_in(const Ending& end, const Builder& builder) {
  const auto& dims = end.product->output(0)->type.dims;
  if (!dims || dims->size() != 3) return std::nullopt;
  AxisMap way(*dims);
  if (!way.apply(end.chain, builder)) return std::nullopt;
  const SymDims parts = way.parts_of(0);
  const auto heads = parts.empty() ? std::nullopt : parts.back().value();
  // One part alone is the batch, unless the last axis has joined it.
  if (!heads || (parts.size() == 1 && way.keeps_last())) return std::nullopt;
  Joined joined{1, *heads};
  for (size_t i = 0; i + 1 < parts.size(); ++i) joined.batch = joined.batch * parts[i];
  return joined;
}

bool goes_on(const Node& root) {
  const Value* y = root.output(0);
  return y->single_use() && is_layout(y->uses[0].node);
}

namespace {

/// Is the way with one operator more no longer?
bool ends_better(const AxisMap& way, const Node& next, const Builder& builder) {
  AxisMap longer = way;
  return longer.apply(next, builder) && longer.writable() && longer.cost() <= way.cost();
}

}  // namespace

std::optional<AxisMap> way_out(const std::vector<const Node*>& chain, const Heads& q, int64_t size,
                               const Builder& builder, bool joined) {
  auto way = parted(q.batch, q.rows, q.count, size);
  if (way && joined && !way->reshape({q.batch * q.count, q.rows, size})) way.reset();
  for (const Node* node : chain)
    if (way && !way->apply(*node, builder)) way.reset();
  if (!way || !way->writable()) return std::nullopt;
  const auto length = static_cast<int64_t>(chain.size());
  const bool more = goes_on(*chain.back());
  if (more && ends_better(*way, *chain.back()->output(0)->uses[0].node, builder)) return std::nullopt;
  return (more ? way->cost() < length : way->cost() <= length) ? way : std::nullopt;
}

}  // namespace mlopt::fusion
