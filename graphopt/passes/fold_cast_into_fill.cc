// Cast(ConstantOfShape(shape, v)) -> ConstantOfShape(shape, Cast(v)).
#include "core/ir/cast_target.h"
#include "core/tensor/cast.h"
#include "graphopt/passes.h"

namespace mlopt::graphopt {
namespace {

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  const NodeView fill = builder.view(*m.node("fill"));
  const auto to = cast_target(builder.view(*m.root));
  const Tensor value = fill.get_tensor("value") ? *fill.get_tensor("value") : Tensor::of<float>({1}, {0});
  if (to == DType::kBF16 && builder.opset() < 20) return Decline{"ConstantOfShape has bfloat16 from opset 20 on"};
  if (!(is_float(to) || is_integer(to) || to == DType::kBool) || bits(to) < 8 || (is_float(to) && bits(to) < 16))
    return Decline{"it casts to another kind"};
  if (value.dtype() == DType::kString || value.size() != 1) return Decline{"its value is no number"};
  return Replacement{
      builder.op("ConstantOfShape", {m.value("shape")}, {{"value", cast(value, to), {}}}, m.root->output(0)->type)};
}

std::vector<Rule> rules() {
  return {{Pattern::op("Cast", {Pattern::op("ConstantOfShape", {Pattern::any("shape")}).as("fill").single_use()}),
           rewrite}};
}

}  // namespace

const Pass fold_cast_into_fill = {"fold_cast_into_fill", "let ConstantOfShape give the type that a Cast makes of it",
                                  rules};

}  // namespace mlopt::graphopt
