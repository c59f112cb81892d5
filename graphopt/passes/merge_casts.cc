// Cast(Cast(x)) -> Cast(x) where the type between them holds every value of x's type.
#include "core/ir/cast_target.h"
#include "graphopt/passes.h"

namespace mlopt::graphopt {
namespace {

/// Bits of the integers that a float type holds exactly.
int exact_bits(DType type) {
  switch (type) {
    case DType::kF64:
      return 53;
    case DType::kF32:
      return 24;
    case DType::kF16:
      return 11;
    case DType::kBF16:
      return 8;
    default:
      return 0;
  }
}

bool lossless(DType from, DType to) {
  if (from == to || from == DType::kBool) return to != DType::kString;
  if (is_float(from) && is_float(to)) {
    if (to == DType::kF64) return true;
    return to == DType::kF32 && (from == DType::kF16 || from == DType::kBF16);
  }
  if (is_integer(from) && is_float(to)) return bits(from) <= exact_bits(to);
  if (is_integer(from) && is_integer(to))
    return is_signed(from) == is_signed(to) ? bits(from) <= bits(to) : !is_signed(from) && bits(from) < bits(to);
  return false;
}

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  Value* x = m.value("x");
  const auto between = cast_target(builder.view(*m.node("inner")));
  if (x->type.dtype == DType::kUndefined) return Decline{"the type of its input is not known"};
  if (cast_target(builder.view(*m.root)) == DType::kString) return Decline{"a number is written as a text of its type"};
  if (!lossless(x->type.dtype, between)) return Decline{"the type between the casts loses information"};
  return Replacement{builder.op("Cast", {x}, m.root->attrs)};
}

std::vector<Rule> rules() {
  return {{Pattern::op("Cast", {Pattern::op("Cast", {Pattern::any("x")}).as("inner")}), rewrite}};
}

}  // namespace

const Pass merge_casts = {"merge_casts", "replace two casts by one where nothing is lost between them", rules};

}  // namespace mlopt::graphopt
