// Slice(x) -> x where every axis is taken whole and in order.
#include "graphopt/passes.h"

namespace mlopt::graphopt {
namespace {

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  const NodeView view = builder.view(*m.root);
  const auto starts = view.ints("starts", 1), ends = view.ints("ends", 2), axes = view.ints("axes", 3);
  const auto steps = view.opset() < 10 ? std::vector<int64_t>{} : view.ints("steps", 4);
  if (!starts || !ends || !axes || !steps || ends->size() != starts->size())
    return Decline{"its ranges are not constant"};
  const auto& dims = m.value("x")->type.dims;
  for (size_t i = 0; i < starts->size(); ++i) {
    if ((*starts)[i] != 0 || (i < steps->size() && (*steps)[i] != 1)) return Decline{"it takes a part"};
    if ((*ends)[i] >= INT32_MAX) continue;
    int64_t axis = i < axes->size() ? (*axes)[i] : static_cast<int64_t>(i);
    if (!dims) return Decline{"the shape of its input is not known"};
    if (axis < 0) axis += static_cast<int64_t>(dims->size());
    const auto size = axis >= 0 && axis < static_cast<int64_t>(dims->size())
                          ? (*dims)[static_cast<size_t>(axis)].value()
                          : std::nullopt;
    if (!size || (*ends)[i] < *size) return Decline{"it takes a part"};
  }
  return Replacement{m.value("x")};
}

std::vector<Rule> rules() { return {{Pattern::op("Slice", {Pattern::any("x")}).open(), rewrite}}; }

}  // namespace

const Pass eliminate_nop_slice = {"eliminate_nop_slice", "remove Slice that takes everything", rules};

}  // namespace mlopt::graphopt
