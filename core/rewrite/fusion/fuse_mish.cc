// x tanh(softplus(x)) -> Mish(x).
#include "core/rewrite/fusion/passes.h"
#include "core/rewrite/numbers.h"

namespace mlopt::fusion {
namespace {

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  Value* x = m.value("x");
  if (m.value("inner") != x) return Decline{"two values are multiplied"};
  if (m.has("one") && !is_number(m.value("one"), 1, axes_of(*x))) return Decline{"another number than 1 is added"};
  constexpr double kLinear = 15;  // softplus(x) - x is below 4e-7 from here on
  if (m.has("limit") && (m.value("line") != x || m.value("over") != x ||
                         !(number_in(m.value("limit"), axes_of(*x)).value_or(0) >= kLinear)))
    return Decline{"it is not softplus above a limit"};
  if (!is_float(x->type.dtype)) return Decline{"its type is not known"};
  if (!builder.has(18, x->type.dtype, 22)) return Decline{"Mish needs opset 18, of bfloat16 22"};
  return Replacement{builder.op("Mish", {x}, {}, x->type)};
}

std::vector<Rule> rules() {
  const auto mish = [](Pattern softplus) {
    Pattern gate = Pattern::op("Tanh", {std::move(softplus).single_use()}).single_use();
    return Pattern::op("Mul", {Pattern::any("x"), std::move(gate)}).any_order();
  };
  Pattern power = Pattern::op("Exp", {Pattern::any("inner")}).single_use();
  Pattern sum = Pattern::op("Add", {std::move(power), Pattern::constant("one")}).any_order().single_use();
  Pattern above = Pattern::op("Greater", {Pattern::any("over"), Pattern::constant("limit")}).single_use();
  Pattern below = Pattern::op("Softplus", {Pattern::any("inner")}).single_use();
  return {{mish(Pattern::op("Softplus", {Pattern::any("inner")})), rewrite},
          {mish(Pattern::op("Where", {std::move(above), Pattern::any("line"), std::move(below)})), rewrite},
          {mish(Pattern::op("Log", {std::move(sum)})), rewrite}};
}

}  // namespace

const Pass fuse_mish = {"fuse_mish", "a value times tanh of its softplus as one operator", rules};

}  // namespace mlopt::fusion
