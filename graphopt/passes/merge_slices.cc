// Slice(Slice(x)) along different axes -> Slice(x) along all of them; where both turn one axis round, x.
#include <algorithm>

#include "graphopt/passes.h"
#include "graphopt/passes/slicing.h"

namespace mlopt::graphopt {
namespace {

bool disjoint(const std::vector<int64_t>& a, const std::vector<int64_t>& b) {
  return std::none_of(a.begin(), a.end(), [&](int64_t axis) { return std::find(b.begin(), b.end(), axis) != b.end(); });
}

/// Does every Slice that reads the inner one become one with it? Else it would stay for the others.
bool all_merge(const Value& inner, const Slicing& slicing, const Builder& builder) {
  return !inner.is_output() && std::all_of(inner.uses.begin(), inner.uses.end(), [&](const Use& use) {
    if (!use.node->is("Slice") || use.index != 0 || use.node->graph() != inner.graph) return false;
    const auto outer = Slicing::of(builder.view(*use.node));
    return outer && disjoint(outer->axes, slicing.axes);
  });
}

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  const auto turned = reversed_axis(builder.view(*m.node("inner")));
  if (turned && turned == reversed_axis(builder.view(*m.root))) return Replacement{m.value("x")};
  auto both = Slicing::of(builder.view(*m.node("inner")));
  const auto outer = Slicing::of(builder.view(*m.root));
  if (!both || !outer) return Decline{"its limits are not constant"};
  if (!disjoint(both->axes, outer->axes)) return Decline{"both take a part of one axis"};
  if (!all_merge(*m.value("inner"), *both, builder)) return Decline{"what it takes a part of is used elsewhere too"};
  const auto append = [](std::vector<int64_t>& to, const std::vector<int64_t>& from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  append(both->axes, outer->axes);
  append(both->starts, outer->starts);
  append(both->ends, outer->ends);
  append(both->steps, outer->steps);
  return Replacement{both->make(builder, m.value("x"), m.root->output(0)->type)};
}

std::vector<Rule> rules() {
  return {{Pattern::op("Slice", {Pattern::op("Slice", {Pattern::any("x")}).open().as("inner")}).open(), rewrite}};
}

}  // namespace

const Pass merge_slices = {"merge_slices", "replace Slices along different axes by one", rules};

}  // namespace mlopt::graphopt
