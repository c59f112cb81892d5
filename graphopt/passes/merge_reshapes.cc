// Reshape(Reshape(x)) -> Reshape(x), also over Flatten, Squeeze and Unsqueeze, where the final shape is known well
// enough.
#include "graphopt/passes.h"
#include "graphopt/passes/support.h"

namespace mlopt::graphopt {
namespace {

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  Value* x = m.value("x");
  const Type& type = m.root->output(0)->type;
  const auto target = reshape_target(x->type.dims, type.dims);
  if (!target) return Decline{"more than one dimension of its result is not known"};
  return Replacement{make_reshape(builder, x, *target, type)};
}

Expected<Replacement> cancel(const Match& m, Builder&) {
  if (!same_dims(m.value("x")->type.dims, m.root->output(0)->type.dims))
    return Decline{"it does not undo what is before it"};
  return Replacement{m.value("x")};
}

std::vector<Rule> rules() {
  return {
      {Pattern::op("Squeeze|Unsqueeze", {Pattern::op("Reshape|Flatten|Squeeze|Unsqueeze", {Pattern::any("x")}).open()})
           .open(),
       cancel},
      {Pattern::op("Reshape|Flatten",
                   {Pattern::op("Reshape|Flatten|Squeeze|Unsqueeze", {Pattern::any("x")}).open().single_use()})
           .open(),
       rewrite}};
}

}  // namespace

const Pass merge_reshapes = {"merge_reshapes", "replace a chain of reshapes by one", rules};

}  // namespace mlopt::graphopt
