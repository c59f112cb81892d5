// Where(Not(c), a, b) -> Where(c, b, a).
#include "graphopt/passes.h"

namespace mlopt::graphopt {
namespace {

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  return Replacement{builder.op("Where", {m.value("c"), m.value("b"), m.value("a")}, {}, m.root->output(0)->type)};
}

std::vector<Rule> rules() {
  return {
      {Pattern::op("Where", {Pattern::op("Not", {Pattern::any("c")}), Pattern::any("a"), Pattern::any("b")}), rewrite}};
}

}  // namespace

const Pass fold_not_into_where = {"fold_not_into_where", "swap the operands of Where in place of a Not", rules};

}  // namespace mlopt::graphopt
