// x sigmoid(x) -> Swish(x).
#include "backends/cpu/prepare/prepare.h"

namespace mlopt::cpu {
namespace {

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  Value* x = m.value("x");
  if (m.value("inner") != x) return Decline{"two values are multiplied"};
  if (x->type.dtype != DType::kF32) return Decline{"it is not float32"};
  return Replacement{builder.op("Swish", {x}, {}, x->type)};
}

std::vector<Rule> rules() {
  Pattern gate = Pattern::op("Sigmoid", {Pattern::any("inner")}).single_use();
  return {{Pattern::op("Mul", {Pattern::any("x"), std::move(gate)}).any_order(), rewrite}};
}

}  // namespace

const Pass swish = {"swish", "a value times its sigmoid as one operator", rules};

}  // namespace mlopt::cpu
