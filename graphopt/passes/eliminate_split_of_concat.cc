// Split(Concat(a, b)) into the sizes of a and b -> a, b.
#include "graphopt/passes.h"

namespace mlopt::graphopt {
namespace {

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  const Node& concat = *m.node("concat");
  const auto& dims = m.value("concat")->type.dims;
  if (!dims) return Decline{"the rank of its input is not known"};
  const auto rank = static_cast<int64_t>(dims->size());
  const auto from_zero = [&](int64_t axis) { return axis < 0 ? axis + rank : axis; };
  const int64_t axis = from_zero(builder.view(*m.root).get_int("axis", 0));
  if (axis < 0 || axis >= rank || axis != from_zero(builder.view(concat).get_int("axis", 1)))
    return Decline{"it splits another axis than the joined one"};
  if (m.root->outputs().size() != concat.inputs().size()) return Decline{"its parts are others than those joined"};
  for (size_t i = 0; i < concat.inputs().size(); ++i) {
    const Value *part = m.root->outputs()[i], *joined = concat.inputs()[i];
    if (!part) continue;
    const auto at = static_cast<size_t>(axis);
    if (!part->type.dims || !joined->type.dims || part->type.dims->size() != dims->size() ||
        joined->type.dims->size() != dims->size() || !((*part->type.dims)[at] == (*joined->type.dims)[at]))
      return Decline{"its parts are others than those joined"};
  }
  return Replacement{concat.inputs()};
}

std::vector<Rule> rules() {
  return {{Pattern::op("Split", {Pattern::op("Concat", {}).open().as("concat")}).open(), rewrite}};
}

}  // namespace

const Pass eliminate_split_of_concat = {"eliminate_split_of_concat", "remove Split of what a Concat joined", rules};

}  // namespace mlopt::graphopt
