// ReduceMean over all spatial axes, which are kept -> GlobalAveragePool. Not ReduceMax: runtimes' maxima of pools begin
// with the lowest number, which is above -inf, and differ in NaN.
#include "graphopt/passes.h"
#include "graphopt/passes/reduction.h"
#include "graphopt/passes/support.h"

namespace mlopt::graphopt {
namespace {

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  Value* x = m.value("x");
  const auto reduction = Reduction::of(builder.view(*m.root));
  if (!reduction) return reduction.error();
  const SymDims& dims = *x->type.dims;
  // With three axes the last one is that of a normalization over features, which runtimes find by its mean.
  if (dims.size() < 4 || !reduction->keepdims) return Decline{"its axes are not kept, or it is no image"};
  if (!is_float(x->type.dtype) || !builder.has(1, x->type.dtype, 22)) return Decline{"pools do not take its type"};
  std::vector<int64_t> spatial;
  for (size_t i = 2; i < dims.size(); ++i) {
    if (dims[i].value().value_or(0) <= 0) return Decline{"its spatial axes may be empty"};
    spatial.push_back(static_cast<int64_t>(i));
  }
  if (reduction->axes != spatial) return Decline{"its axes are not all spatial axes"};
  return Replacement{builder.op("GlobalAveragePool", {x}, {}, m.root->output(0)->type)};
}

std::vector<Rule> rules() { return {{Pattern::op("ReduceMean", {Pattern::any("x")}).open(), rewrite}}; }

}  // namespace

const Pass reduction_to_global_pool = {"reduction_to_global_pool",
                                       "replace means over all spatial axes by global pools", rules};

}  // namespace mlopt::graphopt
