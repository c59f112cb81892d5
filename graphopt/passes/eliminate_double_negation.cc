// Neg(Neg(x)) -> x, Not(Not(x)) -> x.
#include "graphopt/passes.h"

namespace mlopt::graphopt {
namespace {

Expected<Replacement> rewrite(const Match& m, Builder&) { return Replacement{m.value("x")}; }

std::vector<Rule> rules() {
  return {{Pattern::op("Neg", {Pattern::op("Neg", {Pattern::any("x")})}), rewrite},
          {Pattern::op("Not", {Pattern::op("Not", {Pattern::any("x")})}), rewrite}};
}

}  // namespace

const Pass eliminate_double_negation = {"eliminate_double_negation", "remove Neg of Neg and Not of Not", rules};

}  // namespace mlopt::graphopt
