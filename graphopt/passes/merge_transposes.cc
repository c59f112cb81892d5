// Transpose(Transpose(x)) -> Transpose(x) with both permutations, which disappears when they cancel.
#include "core/rewrite/axis_map.h"
#include "graphopt/passes.h"

namespace mlopt::graphopt {
namespace {

/// Empty where it is the default and the rank is not known.
std::vector<int64_t> permutation(const NodeView& view) {
  const auto& dims = view.node().input(0)->type.dims;
  return permutation_of(view, dims ? dims->size() : 0);
}

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  const std::vector<int64_t> outer = permutation(builder.view(*m.root));
  const std::vector<int64_t> inner = permutation(builder.view(*m.node("inner")));
  if (inner.empty() || outer.size() != inner.size()) return Decline{"its permutation is not known"};
  std::vector<int64_t> both;
  for (const int64_t axis : outer) both.push_back(inner[static_cast<size_t>(axis)]);
  return Replacement{builder.op("Transpose", {m.value("x")}, {{"perm", both, {}}})};
}

std::vector<Rule> rules() {
  return {{Pattern::op("Transpose", {Pattern::op("Transpose", {Pattern::any("x")}).as("inner")}), rewrite}};
}

}  // namespace

const Pass merge_transposes = {"merge_transposes", "replace two Transposes by one, or by none when they cancel", rules};

}  // namespace mlopt::graphopt
