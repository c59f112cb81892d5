// MaxPool, AveragePool with a window of one element -> x; a global pool over one element -> x.
#include <algorithm>

#include "graphopt/passes.h"

namespace mlopt::graphopt {
namespace {

bool all_are(const std::vector<int64_t>& numbers, int64_t wanted) {
  return std::all_of(numbers.begin(), numbers.end(), [&](int64_t n) { return n == wanted; });
}

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  const NodeView view = builder.view(*m.root);
  const std::vector<int64_t> kernel = view.get_ints("kernel_shape");
  if (m.root->outputs().size() > 1) return Decline{"its indices are used"};
  if (kernel.empty() || !all_are(kernel, 1)) return Decline{"its window is larger than one element"};
  if (!all_are(view.get_ints("strides"), 1)) return Decline{"it leaves elements out"};
  if (!all_are(view.get_ints("pads"), 0)) return Decline{"it pads"};
  return Replacement{m.value("x")};
}

Expected<Replacement> rewrite_global(const Match& m, Builder&) {
  Value* x = m.value("x");
  const auto& dims = x->type.dims;
  if (!dims || dims->size() < 3) return Decline{"its shape is not known"};
  if (!std::all_of(dims->begin() + 2, dims->end(), [](const Dim& d) { return d.is(1); }))
    return Decline{"it may go over more than one element"};
  return Replacement{x};
}

std::vector<Rule> rules() {
  return {{Pattern::op("MaxPool|AveragePool", {Pattern::any("x")}), rewrite},
          {Pattern::op("GlobalMaxPool|GlobalAveragePool", {Pattern::any("x")}), rewrite_global}};
}

}  // namespace

const Pass eliminate_nop_pool = {"eliminate_nop_pool", "remove pools over single elements", rules};

}  // namespace mlopt::graphopt
