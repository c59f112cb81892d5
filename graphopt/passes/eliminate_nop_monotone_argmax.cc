// ArgMax(Softmax(x)) -> ArgMax(x), ArgMax or ArgMin of LogSoftmax likewise: they leave the order of elements. Only
// elements that they round to one number were a tie before. The least of probabilities are often all 0.
#include "graphopt/passes.h"

namespace mlopt::graphopt {
namespace {

/// Are the elements along this axis divided by one sum?
bool is_normalized_along(const NodeView& softmax, int64_t axis, int64_t rank) {
  int64_t own = softmax.get_int("axis", softmax.opset() < 13 ? 1 : -1);
  own += own < 0 ? rank : 0;
  axis += axis < 0 ? rank : 0;
  // The first opsets normalize over all axes from there on.
  return softmax.opset() < 13 ? axis >= own : axis == own;
}

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  const Node& inner = *m.node("inner");
  Value* x = m.value("x");
  const int64_t axis = builder.view(*m.root).get_int("axis", 0);
  if (!x->type.dims) return Decline{"the axes are not known"};
  if (!is_normalized_along(builder.view(inner), axis, std::ssize(*x->type.dims)))
    return Decline{"it is normalized along another axis"};
  return Replacement{builder.op(m.root->op, {x}, m.root->attrs, m.root->output(0)->type)};
}

Pattern inner(const char* op) { return Pattern::op(op, {Pattern::any("x")}).as("inner").single_use(); }

std::vector<Rule> rules() {
  return {{Pattern::op("ArgMax", {inner("Softmax|LogSoftmax")}), rewrite},
          {Pattern::op("ArgMin", {inner("LogSoftmax")}), rewrite}};
}

}  // namespace

const Pass eliminate_nop_monotone_argmax = {"eliminate_nop_monotone_argmax",
                                            "remove Softmax and the like before ArgMax, whose order they keep", rules};

}  // namespace mlopt::graphopt
