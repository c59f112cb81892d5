// Transpose(x) -> x where the axes stay in order.
#include <algorithm>

#include "core/rewrite/axis_map.h"
#include "graphopt/passes.h"

namespace mlopt::graphopt {
namespace {

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  const std::vector<int64_t> perm = permutation_of(builder.view(*m.root), 0);
  const auto& dims = m.value("x")->type.dims;
  const bool reversed = perm.empty();
  if (reversed && !(dims && dims->size() < 2)) return Decline{"it moves axes"};
  if (!std::is_sorted(perm.begin(), perm.end())) return Decline{"it moves axes"};
  return Replacement{m.value("x")};
}

std::vector<Rule> rules() { return {{Pattern::op("Transpose", {Pattern::any("x")}), rewrite}}; }

}  // namespace

const Pass eliminate_nop_transpose = {"eliminate_nop_transpose", "remove Transpose that leaves the axes in order",
                                      rules};

}  // namespace mlopt::graphopt
