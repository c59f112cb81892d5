// Concat(x) -> x, and the same for Sum, Mean, Max and Min of one input.
#include "graphopt/passes.h"

namespace mlopt::graphopt {
namespace {

Expected<Replacement> rewrite(const Match& m, Builder&) { return Replacement{m.value("x")}; }

std::vector<Rule> rules() { return {{Pattern::op("Concat|Sum|Mean|Max|Min", {Pattern::any("x")}), rewrite}}; }

}  // namespace

const Pass eliminate_nop_concat = {"eliminate_nop_concat", "remove Concat, Sum, Mean, Max and Min of one input", rules};

}  // namespace mlopt::graphopt
