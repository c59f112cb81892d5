// Constant() -> an initializer, so that every rule sees constants in one form.
#include "graphopt/passes.h"

namespace mlopt::graphopt {
namespace {

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  Value* y = m.root->output(0);
  if (!y->constant) return Decline{"its value is not a dense tensor"};
  if (y->is_output()) return Decline{"it is an output of the graph"};
  const std::string name = y->name;
  builder.graph.rename(y, builder.graph.fresh_name(name));
  return Replacement{builder.constant(name, *y->constant)};
}

std::vector<Rule> rules() { return {{Pattern::op("Constant", {}), rewrite}}; }

}  // namespace

const Pass constant_to_initializer = {"constant_to_initializer", "turn Constant nodes into initializers", rules};

}  // namespace mlopt::graphopt
