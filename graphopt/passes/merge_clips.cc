// Clip(Clip(x, a, b), c, d) -> Clip(x, ...) with both limits, Relu being a Clip from 0.
#include <algorithm>

#include "graphopt/passes.h"
#include "graphopt/passes/limits.h"
#include "graphopt/passes/support.h"

namespace mlopt::graphopt {
namespace {

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  Value* x = m.value("x");
  if (!is_foldable_float(x->type.dtype)) return Decline{"its elements are no floats"};
  const auto inner = Limits::of(builder.view(*m.node("inner"))), outer = Limits::of(builder.view(*m.root));
  if (!inner || !outer) return Decline{"its limits are not constant and in order"};
  const Limits both = {std::clamp(inner->low, outer->low, outer->high),
                       std::clamp(inner->high, outer->low, outer->high)};
  if (both.low == inner->low && both.high == inner->high) return Replacement{m.value("inner")};
  if (!m.value("inner")->single_use()) return Decline{"what is limited before it is used elsewhere too"};
  return Replacement{make_clip(builder, x, both)};
}

std::vector<Rule> rules() {
  return {
      {Pattern::op("Clip|Relu", {Pattern::op("Clip|Relu", {Pattern::any("x")}).open().as("inner")}).open(), rewrite}};
}

}  // namespace

const Pass merge_clips = {"merge_clips", "replace a chain of Clip and Relu by one", rules};

}  // namespace mlopt::graphopt
