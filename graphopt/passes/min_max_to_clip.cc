// Max(x, a), Min(x, b) with one constant number -> Clip(x, a, b).
#include <cmath>

#include "core/tensor/cast.h"
#include "graphopt/passes.h"
#include "graphopt/passes/limits.h"
#include "graphopt/passes/support.h"

namespace mlopt::graphopt {
namespace {

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  Value* x = m.value("x");
  const Tensor& c = m.constant("c");
  if (builder.opset() < 8) return Decline{"its opset does not broadcast"};
  if (!is_foldable_float(x->type.dtype)) return Decline{"its elements are no floats"};
  if (c.size() != 1) return Decline{"its limit is more than one number"};
  if (c.rank() > 0 && (!x->type.dims || c.rank() > static_cast<int>(x->type.dims->size())))
    return Decline{"its limit may add axes"};
  const double limit = number_at(c, 0);
  if (!std::isfinite(limit)) return Decline{"its limit is not finite"};
  return Replacement{make_clip(builder, x, m.root->op == "Max" ? Limits{.low = limit} : Limits{.high = limit})};
}

std::vector<Rule> rules() {
  return {{Pattern::op("Min|Max", {Pattern::any("x"), Pattern::constant("c")}).any_order(), rewrite}};
}

}  // namespace

const Pass min_max_to_clip = {"min_max_to_clip", "replace Min and Max with one number by Clip", rules};

}  // namespace mlopt::graphopt
