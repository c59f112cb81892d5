// Compress by a constant condition -> Gather of the places where it holds.
#include "core/rewrite/lower/passes.h"
#include "core/tensor/cast.h"

namespace mlopt::lower {
namespace {

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  const std::vector<int64_t> holds = to_ints(m.constant("condition"));
  std::vector<int64_t> places;
  for (size_t i = 0; i < holds.size(); ++i)
    if (holds[i] != 0) places.push_back(static_cast<int64_t>(i));
  Value* x = m.value("x");
  const NodeView view = builder.view(*m.root);
  const bool flat = !view.has("axis");
  if (flat)
    x = builder.op("Reshape", {x, builder.constant("flat", Tensor::ints({-1}))}, {}, Type::tensor(x->type.dtype));
  return Replacement{builder.op("Gather", {x, builder.constant("places", Tensor::ints(places))},
                                {{"axis", flat ? int64_t{0} : view.get_int("axis"), ""}}, m.root->output(0)->type)};
}

std::vector<Rule> rules() {
  return {{Pattern::op("Compress", {Pattern::any("x"), Pattern::constant("condition")}), rewrite}};
}

}  // namespace

const Pass compress = {"compress", "Compress by a constant condition as Gather", rules};

}  // namespace mlopt::lower
