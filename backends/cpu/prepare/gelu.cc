// x (1 + erf(x / sqrt 2)) / 2, however it is spelt -> Gelu(x).
#include <cmath>

#include "backends/cpu/prepare/numbers.h"
#include "backends/cpu/prepare/prepare.h"

namespace mlopt::cpu {
namespace {

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  Value* x = m.value("x");
  if (m.value("inner") != x) return Decline{"two values are multiplied"};
  if (x->type.dtype != DType::kF32) return Decline{"it is not float32"};
  const double root = m.node("scaled")->is("Div") ? std::sqrt(2.0) : std::sqrt(0.5);
  if (!is_number(m.value("root"), root) || !is_number(m.value("one"), 1) || !is_number(m.value("half"), 0.5))
    return Decline{"other numbers than GELU's"};
  return Replacement{builder.op("Gelu", {x}, {}, x->type)};
}

std::vector<Rule> rules() {
  const auto factor = [] {
    Pattern scaled =
        Pattern::op("Div|Mul", {Pattern::any("inner"), Pattern::constant("root")}).as("scaled").single_use();
    Pattern erf = Pattern::op("Erf", {std::move(scaled)}).single_use();
    return Pattern::op("Add", {std::move(erf), Pattern::constant("one")}).any_order().single_use();
  };
  const auto times = [](Pattern a, Pattern b) { return Pattern::op("Mul", {std::move(a), std::move(b)}).any_order(); };
  const auto half = [] { return Pattern::constant("half"); };
  return {{times(times(Pattern::any("x"), factor()).single_use(), half()), rewrite},
          {times(Pattern::any("x"), times(factor(), half()).single_use()), rewrite},
          {times(times(Pattern::any("x"), half()).single_use(), factor()), rewrite}};
}

}  // namespace

const Pass gelu = {"gelu", "the operators that GELU is exported as, as one", rules};

}  // namespace mlopt::cpu
