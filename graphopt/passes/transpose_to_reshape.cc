// Transpose that only moves axes of size 1, next to a Reshape that it then becomes one with -> Reshape.
#include "graphopt/passes.h"
#include "graphopt/passes/support.h"

namespace mlopt::graphopt {
namespace {

bool is_reshape(const Node* node) {
  return node && (node->is("Reshape") || node->is("Flatten") || node->is("Squeeze") || node->is("Unsqueeze"));
}

/// merge_reshapes makes one of the two.
bool meets_reshape(const Node& transpose) {
  const Value *x = transpose.input(0), *y = transpose.output(0);
  if (is_reshape(x->producer) && x->single_use()) return true;
  return y->single_use() && (y->uses[0].node->is("Reshape") || y->uses[0].node->is("Flatten"));
}

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  Value* x = m.value("x");
  const std::vector<int64_t> perm = builder.view(*m.root).get_ints("perm");
  const auto& dims = x->type.dims;
  if (!dims || perm.size() != dims->size()) return Decline{"its permutation or shape is not known"};
  if (!is_permutation(perm, dims->size())) return Decline{"its permutation is not valid"};
  if (!moves_only_ones(perm, *dims)) return Decline{};
  if (!meets_reshape(*m.root)) return Decline{"no Reshape is next to it"};
  const Type& type = m.root->output(0)->type;
  const auto target = reshape_target(dims, type.dims);
  if (!target) return Decline{"more than one dimension of its result is not known"};
  return Replacement{make_reshape(builder, x, *target, type)};
}

std::vector<Rule> rules() { return {{Pattern::op("Transpose", {Pattern::any("x")}), rewrite}}; }

}  // namespace

const Pass transpose_to_reshape = {"transpose_to_reshape",
                                   "replace Transpose of axes of size 1 by the Reshape next to it", rules};

}  // namespace mlopt::graphopt
