// Shrink(x) -> x + bias below -lambd, x - bias above lambd, and zeros between.
#include "core/rewrite/lower/passes.h"
#include "core/tensor/cast.h"

namespace mlopt::lower {
namespace {

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  Value* x = m.value("x");
  const Type &type = x->type, condition = Type::tensor(DType::kBool, type.dims);
  if (type.dtype == DType::kUndefined) return Decline{"its type is not known"};
  const NodeView view = builder.view(*m.root);
  const auto number = [&](const char* hint, float v) {
    return builder.constant(hint, cast(Tensor::scalar(v), type.dtype));
  };
  const float limit = view.get_float("lambd", 0.5f);
  Value* bias = number("bias", view.get_float("bias", 0));
  Value* below = builder.op("Less", {x, number("low", -limit)}, {}, condition);
  Value* above = builder.op("Greater", {x, number("high", limit)}, {}, condition);
  Value* inner = builder.op("Where", {above, builder.op("Sub", {x, bias}, {}, type), number("zero", 0)}, {}, type);
  return Replacement{builder.op("Where", {below, builder.op("Add", {x, bias}, {}, type), inner}, {}, type)};
}

std::vector<Rule> rules() { return {{Pattern::op("Shrink", {Pattern::any("x")}), rewrite}}; }

}  // namespace

const Pass shrink = {"shrink", "Shrink as choices", rules};

}  // namespace mlopt::lower
