// Expand(x, computed shape) -> Expand(x, constant), where each axis has a known size or the one that x has.
#include "graphopt/passes.h"

namespace mlopt::graphopt {
namespace {

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  Value* x = m.value("x");
  const auto &from = x->type.dims, &to = m.root->output(0)->type.dims;
  if (m.value("shape")->known_constant()) return Decline{};
  if (!from || !to || from->size() > to->size()) return Decline{"its shape is not known"};
  std::vector<int64_t> shape;
  const size_t added = to->size() - from->size();
  for (size_t i = 0; i < to->size(); ++i) {
    const Dim& d = (*to)[i];
    if (i >= added && (*from)[i - added] == d)
      shape.push_back(1);  // as it is
    else if (const auto size = d.value())
      shape.push_back(*size);
    else
      return Decline{"a dimension of its result is neither known nor that of its input"};
  }
  Value* constant = builder.constant(x->name + "_shape", Tensor::ints(shape));
  return Replacement{builder.op("Expand", {x, constant}, {}, m.root->output(0)->type)};
}

std::vector<Rule> rules() { return {{Pattern::op("Expand", {Pattern::any("x"), Pattern::any("shape")}), rewrite}}; }

}  // namespace

const Pass materialize_expand_shape = {"materialize_expand_shape",
                                       "give Expand a constant shape where only free axes are copied", rules};

}  // namespace mlopt::graphopt
