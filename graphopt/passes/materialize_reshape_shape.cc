// Reshape(x, computed shape) -> Reshape(x, constant) with 0 and -1 for free dimensions, so that the computation goes
// away.
#include <algorithm>

#include "graphopt/passes.h"
#include "graphopt/passes/support.h"

namespace mlopt::graphopt {
namespace {

bool is_open(const std::vector<int64_t>& target, int64_t how) {
  return std::find(target.begin(), target.end(), how) != target.end();
}

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  if (m.value("shape")->known_constant()) return Decline{"its shape is constant already"};
  const Type& type = m.root->output(0)->type;
  const auto target = reshape_target(m.value("x")->type.dims, type.dims);
  if (!target) return Decline{"more than one dimension of its result is not known"};
  if (builder.view(*m.root).get_int("allowzero", 0) && is_open(*target, 0) && is_open(*target, -1))
    return Decline{"a dimension would not follow from the others where one is zero"};
  return Replacement{make_reshape(builder, m.value("x"), *target, type)};
}

std::vector<Rule> rules() { return {{Pattern::op("Reshape", {Pattern::any("x"), Pattern::any("shape")}), rewrite}}; }

}  // namespace

const Pass materialize_reshape_shape = {
    "materialize_reshape_shape", "give Reshape a constant shape where at most one dimension is not known", rules};

}  // namespace mlopt::graphopt
