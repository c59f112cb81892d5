#include "core/rewrite/fusion/attention_past.h"

#include <algorithm>
#include <unordered_set>

#include "core/rewrite/fusion/lengths.h"

namespace mlopt::fusion {

bool read_late(const Heads& heads, const Node& root, const Graph& graph) {
  std::unordered_set<const Node*> later;
  for (const Node* node = graph.next(&root); node; node = graph.next(node)) later.insert(node);
  const auto& uses = heads.present->uses;
  return std::count_if(uses.begin(), uses.end(), [&](const Use& use) { return !later.contains(use.node); }) == 1;
}

Value* score_shape(const Heads& q, const Heads& k, Builder& builder) {
  Value* rows = row_shape(q.rows, builder);
  Value* keys = k.made == q.rows ? rows : row_shape(k.made, builder);
  if (!rows || !keys) return nullptr;
  Value *two = builder.constant("two", Tensor::ints({2})), *ones = builder.constant("ones", Tensor::ints({1, 1}));
  Value* queries = builder.op("Gather", {rows, two});
  Value* made = keys == rows ? queries : builder.op("Gather", {keys, two});
  Value* past = builder.op("Gather", {builder.op("Shape", {k.past}), two});
  return builder.op("Concat", {ones, queries, builder.op("Add", {past, made})}, {{"axis", int64_t{0}, ""}});
}

Value* with_past(std::string_view op, const Heads& k, const Heads& v, const Type& type, std::vector<Value*> inputs,
                 std::vector<Attr> attrs, Builder& builder) {
  const bool standard = op == "Attention";
  const size_t at = standard ? 4 : op == "GroupQueryAttention" ? 3 : 6;
  inputs.resize(std::max(inputs.size(), at + 2), nullptr);
  inputs[at] = k.past;
  inputs[at + 1] = v.past;
  Value* y = builder.contrib(op, std::move(inputs), std::move(attrs), type, 3);
  if (standard) y->producer->domain.clear();
  Value* const all[] = {k.present, v.present};
  for (int i = 0; i < 2; ++i) {
    Value* present = y->producer->output(i + 1);
    present->type = all[i]->type;
    builder.replace(all[i], present);
  }
  return y;
}

}  // namespace mlopt::fusion
