// Dropout(x) -> x in inference, which is what a file without training_mode means from opset 7 on.
#include "core/tensor/cast.h"
#include "graphopt/passes.h"

namespace mlopt::graphopt {
namespace {

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  const NodeView view = builder.view(*m.root);
  if (const Value* mask = m.root->output(1); mask && (!mask->uses.empty() || mask->is_output()))
    return Decline{"its mask is used"};
  if (view.opset() < 7 && view.get_int("is_test", 0) == 0) return Decline{"it is in training mode"};
  if (m.root->input(2)) {
    const Tensor* training = view.constant(2);
    if (!training) return Decline{"its training mode is not constant"};
    if (training->size() != 1 || to_ints(*training)[0] != 0) return Decline{"it is in training mode"};
  }
  return Replacement{m.value("x")};
}

std::vector<Rule> rules() { return {{Pattern::op("Dropout", {Pattern::any("x")}).open(), rewrite}}; }

}  // namespace

const Pass eliminate_dropout = {"eliminate_dropout", "remove Dropout, which does nothing in inference", rules};

}  // namespace mlopt::graphopt
