// Unsqueeze(Unsqueeze(x, a), b) -> Unsqueeze(x, a and b), Squeeze likewise.
#include <algorithm>

#include "graphopt/passes.h"
#include "graphopt/passes/reduction.h"

namespace mlopt::graphopt {
namespace {

/// Axes of `gaps` counted as if `taken` were not there -> counted with them; both ascending.
std::vector<int64_t> shifted(std::vector<int64_t> gaps, const std::vector<int64_t>& taken) {
  for (int64_t& axis : gaps)
    for (const int64_t t : taken) axis += axis >= t;
  return gaps;
}

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  const auto inner = squeezed_axes(builder.view(*m.node("inner"))), outer = squeezed_axes(builder.view(*m.root));
  if (!inner || !outer) return Decline{"its axes are not known"};
  const bool adds = m.root->op == "Unsqueeze";
  std::vector<int64_t> axes = adds ? *outer : *inner;
  const std::vector<int64_t> others = adds ? shifted(*inner, *outer) : shifted(*outer, *inner);
  axes.insert(axes.end(), others.begin(), others.end());
  std::sort(axes.begin(), axes.end());
  return Replacement{make_squeeze(builder, m.root->op, m.value("x"), axes, m.root->output(0)->type)};
}

std::vector<Rule> rules() {
  std::vector<Rule> both;
  for (const char* op : {"Squeeze", "Unsqueeze"})
    both.push_back(
        {Pattern::op(op, {Pattern::op(op, {Pattern::any("x")}).open().as("inner").single_use()}).open(), rewrite});
  return both;
}

}  // namespace

const Pass merge_squeezes = {"merge_squeezes", "replace two Squeezes or two Unsqueezes by one", rules};

}  // namespace mlopt::graphopt
