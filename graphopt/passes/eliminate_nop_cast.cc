// Cast(x) -> x where x has that type already.
#include "core/ir/cast_target.h"
#include "graphopt/passes.h"

namespace mlopt::graphopt {
namespace {

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  Value* x = m.value("x");
  if (!x->type.has_dtype()) return Decline{"the type of its input is not known"};
  if (x->type.dtype != cast_target(builder.view(*m.root))) return Decline{"it changes the type"};
  return Replacement{x};
}

std::vector<Rule> rules() { return {{Pattern::op("Cast", {Pattern::any("x")}), rewrite}}; }

}  // namespace

const Pass eliminate_nop_cast = {"eliminate_nop_cast", "remove Cast to the type that a value has", rules};

}  // namespace mlopt::graphopt
