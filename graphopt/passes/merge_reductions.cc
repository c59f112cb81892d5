// ReduceSum(ReduceSum(x, a), b) -> ReduceSum(x, a and b), other reductions likewise.
#include <algorithm>

#include "graphopt/passes.h"
#include "graphopt/passes/reduction.h"

namespace mlopt::graphopt {
namespace {

/// The axes of both, counted in the shape of x.
std::vector<int64_t> both_axes(const Reduction& inner, const Reduction& outer) {
  std::vector<int64_t> all = inner.axes;
  for (int64_t axis : outer.axes) {
    if (!inner.keepdims)
      for (const int64_t gone : inner.axes) axis += axis >= gone;  // ascending: each was before it
    if (std::find(all.begin(), all.end(), axis) == all.end()) all.push_back(axis);
  }
  std::sort(all.begin(), all.end());
  return all;
}

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  Value* x = m.value("x");
  const Node* first = m.node("inner");
  if (first->op != m.root->op) return Decline{"the reduction before it is another one"};
  if (m.root->op == "ReduceMean" && !is_float(x->type.dtype)) return Decline{"a mean of integers is cut off"};
  const auto inner = Reduction::of(builder.view(*first)), outer = Reduction::of(builder.view(*m.root));
  if (!inner) return inner.error();
  if (!outer) return outer.error();
  if (inner->keepdims != outer->keepdims) return Decline{"one keeps its axes and the other does not"};
  const Reduction both = {both_axes(*inner, *outer), outer->keepdims, false};
  if (both.axes.empty()) return Decline{"it goes over no axis"};
  return Replacement{make_reduction(builder, m.root->op, x, both, m.root->output(0)->type)};
}

std::vector<Rule> rules() {
  const char* ops = "ReduceSum|ReduceMean|ReduceProd|ReduceMax|ReduceMin|ReduceL1";
  return {{Pattern::op(ops, {Pattern::op(ops, {Pattern::any("x")}).open().as("inner").single_use()}).open(), rewrite}};
}

}  // namespace

const Pass merge_reductions = {"merge_reductions", "replace two reductions of one kind by one", rules};

}  // namespace mlopt::graphopt
