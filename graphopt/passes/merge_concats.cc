// Concat(Concat(a, b), c) -> Concat(a, b, c) along one axis.
#include "graphopt/passes.h"

namespace mlopt::graphopt {
namespace {

/// From 0 where the rank is known.
int64_t axis_of(const NodeView& view) {
  const int64_t axis = view.get_int("axis", 1);
  const auto& dims = view.node().output(0)->type.dims;
  return axis < 0 && dims ? axis + static_cast<int64_t>(dims->size()) : axis;
}

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  const int64_t axis = axis_of(builder.view(*m.root));
  std::vector<Value*> parts;
  bool found = false;
  std::string reason;
  for (Value* v : m.root->inputs()) {
    const Node* inner = v ? v->producer : nullptr;
    const bool concat = inner && inner->is("Concat") && v->graph == m.root->graph();
    if (concat && !v->single_use()) reason = "what it joins is used elsewhere too";
    if (concat && axis_of(builder.view(*inner)) != axis) reason = "it joins what is joined along another axis";
    if (concat && v->single_use() && axis_of(builder.view(*inner)) == axis) {
      parts.insert(parts.end(), inner->inputs().begin(), inner->inputs().end());
      found = true;
    } else {
      parts.push_back(v);
    }
  }
  if (!found) return Decline{reason};
  return Replacement{builder.op("Concat", std::move(parts), m.root->attrs, m.root->output(0)->type)};
}

std::vector<Rule> rules() { return {{Pattern::op("Concat", {}).open(), rewrite}}; }

}  // namespace

const Pass merge_concats = {"merge_concats", "replace a Concat of Concats along one axis by one", rules};

}  // namespace mlopt::graphopt
