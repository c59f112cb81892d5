// LSTM, GRU and RNN whose samples come first (layout = 1) -> the same whose steps come first, between Transposes.
#include "core/rewrite/lower/passes.h"

namespace mlopt::lower {
namespace {

/// The axes in another order.
Value* turned(Builder& builder, Value* x, const std::vector<int64_t>& perm, Type made = {}) {
  if (!x) return nullptr;
  if (made.kind == Type::Kind::kUnknown) {
    made = x->type;
    if (made.dims && made.dims->size() == perm.size())
      for (size_t k = 0; k < perm.size(); ++k) (*made.dims)[k] = (*x->type.dims)[static_cast<size_t>(perm[k])];
  }
  return builder.op("Transpose", {x}, {{"perm", perm, ""}}, std::move(made));
}

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  constexpr int kHidden = 5, kCell = 6;
  const Node& node = *m.root;
  if (builder.view(node).get_int("layout", 0) == 0) return Decline{"its steps come first"};
  std::vector<Value*> inputs = node.inputs();
  for (const int i : {0, kHidden, kCell})
    if (i < static_cast<int>(inputs.size())) inputs[static_cast<size_t>(i)] = turned(builder, node.input(i), {1, 0, 2});
  std::vector<Attr> attrs = node.attrs;
  std::erase_if(attrs, [](const Attr& a) { return a.name == "layout"; });
  const auto outputs = static_cast<int>(node.outputs().size());
  const Node* made = builder.node(node.op, std::move(inputs), std::move(attrs), node.op, outputs);
  Replacement replacement;
  for (int i = 0; i < outputs; ++i) {
    const std::vector<int64_t> perm = i == 0 ? std::vector<int64_t>{2, 0, 1, 3} : std::vector<int64_t>{1, 0, 2};
    replacement.push_back(node.output(i) ? turned(builder, made->output(i), perm, node.output(i)->type) : nullptr);
  }
  return replacement;
}

std::vector<Rule> rules() { return {{Pattern::op("LSTM|GRU|RNN", {}).open(), rewrite}}; }

}  // namespace

const Pass recurrent_layout = {"recurrent_layout", "recurrent networks whose steps come first", rules};

}  // namespace mlopt::lower
