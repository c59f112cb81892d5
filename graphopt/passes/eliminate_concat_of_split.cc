// Concat of every part of a Split(x), in order and along its axis -> x.
#include "graphopt/passes.h"

namespace mlopt::graphopt {
namespace {

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  const Value* first = m.value("first");
  const Node* split = first ? first->producer : nullptr;
  if (!split || !split->is("Split")) return Decline{};
  if (split->outputs() != m.root->inputs()) return Decline{"it does not join all parts of a Split in order"};
  Value* x = split->input(0);
  const int64_t rank = x->type.dims ? static_cast<int64_t>(x->type.dims->size()) : 0;
  const auto from_zero = [&](int64_t axis) { return axis < 0 ? axis + rank : axis; };
  if (from_zero(builder.view(*m.root).get_int("axis", 1)) != from_zero(builder.view(*split).get_int("axis", 0)))
    return Decline{"it joins along another axis than the Split's"};
  return Replacement{x};
}

std::vector<Rule> rules() { return {{Pattern::op("Concat", {Pattern::any("first")}).open(), rewrite}}; }

}  // namespace

const Pass eliminate_concat_of_split = {"eliminate_concat_of_split", "remove Concat of what a Split took apart", rules};

}  // namespace mlopt::graphopt
