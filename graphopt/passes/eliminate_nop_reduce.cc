// Sum, mean, product or extremum over axes of size 1 -> x, without these axes where they are not kept.
#include <algorithm>

#include "graphopt/passes.h"
#include "graphopt/passes/reduction.h"

namespace mlopt::graphopt {
namespace {

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  Value* x = m.value("x");
  const auto reduction = Reduction::of(builder.view(*m.root));
  if (!reduction) return reduction.error();
  const SymDims& dims = *x->type.dims;
  const bool ones = std::all_of(reduction->axes.begin(), reduction->axes.end(),
                                [&](int64_t axis) { return dims[static_cast<size_t>(axis)].is(1); });
  if (!ones) return Decline{"it goes over more than one element"};
  if (reduction->keepdims || reduction->axes.empty()) return Replacement{x};
  return Replacement{make_squeeze(builder, "Squeeze", x, reduction->axes, m.root->output(0)->type)};
}

std::vector<Rule> rules() {
  return {{Pattern::op("ReduceSum|ReduceMean|ReduceProd|ReduceMax|ReduceMin", {Pattern::any("x")}).open(), rewrite}};
}

}  // namespace

const Pass eliminate_nop_reduce = {"eliminate_nop_reduce", "remove reductions over axes of one element", rules};

}  // namespace mlopt::graphopt
