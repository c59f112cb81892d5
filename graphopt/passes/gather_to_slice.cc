// Gather by constant indices that follow each other -> Slice, which may be the whole of x.
#include "core/tensor/cast.h"
#include "graphopt/passes.h"
#include "graphopt/passes/slicing.h"

namespace mlopt::graphopt {
namespace {

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  Value* x = m.value("x");
  const Tensor& indices = m.constant("indices");
  if (!x->type.dims) return Decline{"the rank of its input is not known"};
  if (indices.rank() != 1 || indices.size() == 0) return Decline{"its indices are no list"};
  const auto rank = static_cast<int64_t>(x->type.dims->size());
  int64_t axis = builder.view(*m.root).get_int("axis", 0);
  axis += axis < 0 ? rank : 0;
  if (axis < 0 || axis >= rank) return Decline{"its axis is not valid"};
  const auto length = (*x->type.dims)[static_cast<size_t>(axis)].value();
  if (!length) return Decline{"whether its indices are valid is not known"};
  std::vector<int64_t> at = to_ints(indices);
  for (size_t i = 0; i < at.size(); ++i) {
    at[i] += at[i] < 0 ? *length : 0;
    if (at[i] < 0 || at[i] >= *length) return Decline{"its indices are not valid"};
    if (at[i] != at[0] + static_cast<int64_t>(i)) return Decline{"its indices do not follow each other"};
  }
  const Slicing part = {{axis}, {at[0]}, {at.back() + 1}, {1}};
  return Replacement{part.make(builder, x, m.root->output(0)->type)};
}

std::vector<Rule> rules() {
  return {{Pattern::op("Gather", {Pattern::any("x"), Pattern::constant("indices")}), rewrite}};
}

}  // namespace

const Pass gather_to_slice = {"gather_to_slice", "replace Gather of neighbours by Slice", rules};

}  // namespace mlopt::graphopt
