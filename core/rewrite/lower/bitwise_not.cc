// BitwiseNot(x) -> BitwiseXor(x, all bits).
#include "core/rewrite/lower/passes.h"
#include "core/tensor/cast.h"

namespace mlopt::lower {
namespace {

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  const Type& type = m.root->output(0)->type;
  if (!is_integer(type.dtype)) return Decline{"its type is not known"};
  Value* bits = builder.constant("bits", cast(Tensor::scalar<int64_t>(-1), type.dtype));
  return Replacement{builder.op("BitwiseXor", {m.value("x"), bits}, {}, type)};
}

std::vector<Rule> rules() { return {{Pattern::op("BitwiseNot", {Pattern::any("x")}), rewrite}}; }

}  // namespace

const Pass bitwise_not = {"bitwise_not", "BitwiseNot as an exclusive or with all bits", rules};

}  // namespace mlopt::lower
