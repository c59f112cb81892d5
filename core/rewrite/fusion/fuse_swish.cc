// x sigmoid(x) -> Swish(x), and x sigmoid(a x) -> Swish(x) with alpha = a.
#include "core/rewrite/fusion/passes.h"
#include "core/rewrite/numbers.h"

namespace mlopt::fusion {
namespace {

Expected<Replacement> write(Value* x, double alpha, Builder& builder) {
  if (!is_float(x->type.dtype)) return Decline{"its type is not known"};
  std::vector<Attr> attrs{{"alpha", static_cast<float>(alpha), ""}};
  if (builder.target == Target::kOrt && x->type.dtype == DType::kF32)
    return Replacement{builder.contrib("QuickGelu", {x}, std::move(attrs), x->type)};
  if (!builder.has(24)) return Decline{"Swish needs opset 24"};
  if (builder.target == Target::kOrt && builder.has(25)) return Decline{"ONNX Runtime does not run Swish of opset 25"};
  if (builder.target == Target::kOpenvino || builder.target == Target::kTensorrt)
    return Decline{"the target does not run Swish"};
  if (builder.target == Target::kKernels && x->type.dtype != DType::kF32) return Decline{"it is not float32"};
  if (alpha == 1) attrs.clear();
  return Replacement{builder.op("Swish", {x}, std::move(attrs), x->type)};
}

Expected<Replacement> plain(const Match& m, Builder& builder) {
  if (m.value("inner") != m.value("x")) return Decline{"two values are multiplied"};
  return write(m.value("x"), 1, builder);
}

Expected<Replacement> scaled(const Match& m, Builder& builder) {
  Value* x = m.value("x");
  if (m.value("inner") != x) return Decline{"two values are multiplied"};
  const auto alpha = number_in(m.value("alpha"), x->type.dims ? x->type.dims->size() : 0);
  if (!alpha) return Decline{"the factor of the sigmoid's argument is not a number"};
  return write(x, *alpha, builder);
}

std::vector<Rule> rules() {
  const auto swish = [](Pattern inner) {
    return Pattern::op("Mul", {Pattern::any("x"), Pattern::op("Sigmoid", {std::move(inner)}).single_use()}).any_order();
  };
  Pattern product = Pattern::op("Mul", {Pattern::any("inner"), Pattern::constant("alpha")}).any_order().single_use();
  return {{swish(std::move(product)), scaled}, {swish(Pattern::any("inner")), plain}};
}

}  // namespace

const Pass fuse_swish = {"fuse_swish", "a value times its sigmoid (SiLU, QuickGELU) as one operator", rules};

}  // namespace mlopt::fusion
