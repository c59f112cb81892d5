// Split(x) into one part -> x.
#include "graphopt/passes.h"

namespace mlopt::graphopt {
namespace {

Expected<Replacement> rewrite(const Match& m, Builder&) {
  if (m.root->outputs().size() != 1) return Decline{"it has several parts"};
  return Replacement{m.value("x")};
}

std::vector<Rule> rules() { return {{Pattern::op("Split", {Pattern::any("x")}).open(), rewrite}}; }

}  // namespace

const Pass eliminate_nop_split = {"eliminate_nop_split", "remove Split into one part", rules};

}  // namespace mlopt::graphopt
