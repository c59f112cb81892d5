// f(f(x)) -> f(x) for operators that change nothing the second time, and what changes nothing after another one.
#include <algorithm>
#include <string_view>

#include "graphopt/passes.h"
#include "graphopt/passes/limits.h"

namespace mlopt::graphopt {
namespace {

constexpr std::string_view kToIntegers[] = {"Ceil", "Floor", "Round"};

bool gives_integers(const Node& node) {
  return node.domain.empty() &&
         std::find(std::begin(kToIntegers), std::end(kToIntegers), node.op) != std::end(kToIntegers);
}

bool changes_nothing(const Node& outer, const Value& x, const Builder& builder) {
  const Node* inner = x.producer;
  if (!inner || !inner->domain.empty()) return false;
  if (gives_integers(outer)) return gives_integers(*inner);
  if (outer.op == "Sign") return inner->op == "Sign";
  return never_negative(x, builder);
}

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  Value* x = m.value("x");
  if (!changes_nothing(*m.root, *x, builder)) return Decline{"it may change what is before it"};
  return Replacement{x};
}

std::vector<Rule> rules() { return {{Pattern::op("Relu|Abs|Ceil|Floor|Round|Sign", {Pattern::any("x")}), rewrite}}; }

}  // namespace

const Pass eliminate_idempotent = {"eliminate_idempotent",
                                   "remove Relu, Abs, Ceil, Floor, Round and Sign of what they do not change", rules};

}  // namespace mlopt::graphopt
