#include "core/rewrite/fusion/attention_ending.h"

#include "core/ir/slice_span.h"
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

namespace {

/// With `end.product`.
std::optional<Ending> with_softmax(Ending end) {
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

/// Where the rows of a value's matrices are what it ends with, however these are read: it has no joined axis in front.
bool keeps_first_axis(const Value* v, const Builder& builder) {
  AxisMap way(*v->type.dims);
  for (; v->single_use() && is_layout(v->uses[0].node); v = v->uses[0].node->output(0))
    if (!way.apply(*v->uses[0].node, builder)) return false;
  return way.parts_of(0).size() <= 1 && way.keeps_last();
}

}  // namespace

std::optional<Ending> ending_at(const Node* root) {
  Ending end;
  end.chain = layout_chain(root);
  end.product = made_by(end.chain.front()->input(0), "MatMul");
  return end.product ? with_softmax(end) : std::nullopt;
}

std::optional<Ending> ending_of_one_head(const Node* product, const Builder& builder) {
  const Value* y = product->output(0);
  if (!y->type.dims || y->type.dims->size() != 3 || !keeps_first_axis(y, builder)) return std::nullopt;
  Ending end;
  end.product = product;
  return with_softmax(end);
}

// Measured: our kernel is with narrow heads, ONNX Runtime's (1.32) only with many rows as well.
bool pays_for_one_head(const Ending& end, const Builder& builder) {
  constexpr int64_t kNarrow = 64, kWide = 128, kManyRows = 1024;
  const SymDims& dims = *end.product->output(0)->type.dims;
  const int64_t size = dims.back().value().value_or(kBeyondSizes), rows = dims[1].value().value_or(0);
  if (builder.target == Target::kKernels) return size <= kNarrow;
  return builder.target == Target::kOrt && size <= kWide && rows >= kManyRows;
}

std::optional<Joined> joined_in(const Ending& end, const Builder& builder) {
  const auto& dims = end.product->output(0)->type.dims;
  if (!dims || dims->size() != 3) return std::nullopt;
  if (end.chain.empty()) return Joined{dims->front(), 1};
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
  const bool more = !chain.empty() && goes_on(*chain.back());
  if (more && ends_better(*way, *chain.back()->output(0)->uses[0].node, builder)) return std::nullopt;
  return (more ? way->cost() < length : way->cost() <= length) ? way : std::nullopt;
}

}  // namespace mlopt::fusion
