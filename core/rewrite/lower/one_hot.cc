// OneHot of places that are neither int32 nor int64 -> of int64.
#include "core/rewrite/lower/passes.h"

namespace mlopt::lower {
namespace {

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  std::vector<Value*> inputs = m.root->inputs();
  const DType type = inputs[0] ? inputs[0]->type.dtype : DType::kUndefined;
  if (type == DType::kUndefined || type == DType::kI32 || type == DType::kI64) return Decline{"they are such"};
  inputs[0] = builder.op("Cast", {inputs[0]}, {{"to", static_cast<int64_t>(DType::kI64), ""}},
                         Type::tensor(DType::kI64, inputs[0]->type.dims));
  return Replacement{builder.op("OneHot", std::move(inputs), m.root->attrs, m.root->output(0)->type)};
}

std::vector<Rule> rules() { return {{Pattern::op("OneHot", {}).open(), rewrite}}; }

}  // namespace

const Pass one_hot = {"one_hot", "OneHot of places that are integers", rules};

}  // namespace mlopt::lower
