// Slice(x) -> x where every axis is taken whole and in order.
#include <algorithm>

#include "core/ir/slice_span.h"
#include "graphopt/passes.h"
#include "graphopt/passes/support.h"

namespace mlopt::graphopt {
namespace {

/// From zero to a number beyond any size: all of an axis whose size is not known.
bool takes_all(const std::optional<std::vector<int64_t>>& starts, const std::optional<std::vector<int64_t>>& ends) {
  return starts && ends && std::all_of(starts->begin(), starts->end(), [](int64_t start) { return start == 0; }) &&
         std::all_of(ends->begin(), ends->end(), [](int64_t end) { return end >= kBeyondSizes; });
}

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  const NodeView view = builder.view(*m.root);
  const auto steps = view.opset() < 10 ? std::vector<int64_t>{} : view.ints("steps", 4);
  if (!steps) return Decline{"its steps are not constant"};
  if (std::any_of(steps->begin(), steps->end(), [](int64_t step) { return step != 1; }))
    return Decline{"it leaves elements out or changes their order"};
  // With steps of one, what is as long as the axis is all of it.
  if (!same_dims(m.value("x")->type.dims, m.root->output(0)->type.dims) &&
      !takes_all(view.ints("starts", 1), view.ints("ends", 2)))
    return Decline{"it may take a part"};
  return Replacement{m.value("x")};
}

std::vector<Rule> rules() { return {{Pattern::op("Slice", {Pattern::any("x")}).open(), rewrite}}; }

}  // namespace

const Pass eliminate_nop_slice = {"eliminate_nop_slice", "remove Slice that takes everything", rules};

}  // namespace mlopt::graphopt
