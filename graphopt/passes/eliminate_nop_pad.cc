// Pad(x) -> x where nothing is added.
#include <algorithm>

#include "graphopt/passes.h"

namespace mlopt::graphopt {
namespace {

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  const NodeView view = builder.view(*m.root);
  const auto pads = view.ints(view.opset() < 2 ? "paddings" : "pads", 1);
  if (!pads) return Decline{"its pads are not constant"};
  if (std::any_of(pads->begin(), pads->end(), [](int64_t p) { return p != 0; }))
    return Decline{"it adds or removes elements"};
  return Replacement{m.value("x")};
}

std::vector<Rule> rules() { return {{Pattern::op("Pad", {Pattern::any("x")}).open(), rewrite}}; }

}  // namespace

const Pass eliminate_nop_pad = {"eliminate_nop_pad", "remove Pad by nothing", rules};

}  // namespace mlopt::graphopt
