// Expand(x) -> x, Tile(x) -> x where the shape is provably the same.
#include "graphopt/passes.h"
#include "graphopt/passes/support.h"

namespace mlopt::graphopt {
namespace {

Expected<Replacement> rewrite(const Match& m, Builder&) {
  if (!same_dims(m.value("x")->type.dims, m.root->output(0)->type.dims)) return Decline{"it may change the shape"};
  return Replacement{m.value("x")};
}

std::vector<Rule> rules() { return {{Pattern::op("Expand|Tile", {Pattern::any("x")}).open(), rewrite}}; }

}  // namespace

const Pass eliminate_nop_expand = {"eliminate_nop_expand", "remove Expand and Tile to the shape that a value has",
                                   rules};

}  // namespace mlopt::graphopt
