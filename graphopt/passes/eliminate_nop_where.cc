// Where(c, x, x) -> x, Where with a constant condition -> the operand that it chooses.
#include <algorithm>

#include "core/tensor/cast.h"
#include "graphopt/passes.h"
#include "graphopt/passes/support.h"

namespace mlopt::graphopt {
namespace {

Expected<Replacement> keep(Value* x, const Match& m) {
  if (!same_dims(x->type.dims, m.root->output(0)->type.dims)) return Decline{"it may broadcast"};
  return Replacement{x};
}

Expected<Replacement> rewrite(const Match& m, Builder&) {
  Value *a = m.value("a"), *b = m.value("b");
  if (a == b) return keep(a, m);
  const Tensor* c = m.value("c")->known_constant();
  if (!c || c->dtype() != DType::kBool) return Decline{"its condition is not constant"};
  constexpr int64_t kMost = 1 << 16;
  if (c->size() == 0 || c->size() > kMost) return Decline{"its condition is no small tensor"};
  const std::vector<double> flags = to_doubles(*c);
  if (std::any_of(flags.begin(), flags.end(), [&](double f) { return f != flags[0]; }))
    return Decline{"its condition chooses from both"};
  return keep(flags[0] != 0 ? a : b, m);
}

std::vector<Rule> rules() {
  return {{Pattern::op("Where", {Pattern::any("c"), Pattern::any("a"), Pattern::any("b")}), rewrite}};
}

}  // namespace

const Pass eliminate_nop_where = {"eliminate_nop_where", "remove Where that always chooses the same", rules};

}  // namespace mlopt::graphopt
