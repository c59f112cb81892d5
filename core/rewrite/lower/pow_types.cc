// Pow of two types -> both as the first where that is float64 or both are integers, else both as float32 and the result
// cast to the first.
#include "core/rewrite/lower/passes.h"

namespace mlopt::lower {
namespace {

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  Value *x = m.value("x"), *y = m.value("y");
  const DType base = x->type.dtype, exponent = y->type.dtype;
  if (base == exponent || base == DType::kUndefined || exponent == DType::kUndefined)
    return Decline{"both have one type"};
  const auto as = [&](Value* v, DType type) {
    if (v->type.dtype == type) return v;
    return builder.op("Cast", {v}, {{"to", static_cast<int64_t>(type), ""}}, Type::tensor(type, v->type.dims));
  };
  const Type& made = m.root->output(0)->type;
  const bool exact = base == DType::kF64 || (is_integer(base) && is_integer(exponent));
  const DType common = exact ? base : DType::kF32;
  Value* power = builder.op("Pow", {as(x, common), as(y, common)}, {}, Type::tensor(common, made.dims));
  return Replacement{as(power, base)};
}

std::vector<Rule> rules() { return {{Pattern::op("Pow", {Pattern::any("x"), Pattern::any("y")}), rewrite}}; }

}  // namespace

const Pass pow_types = {"pow_types", "Pow of numbers of one type", rules};

}  // namespace mlopt::lower
