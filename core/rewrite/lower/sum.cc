// Sum of two and more -> Add, which products, convolutions and chains take in.
#include "core/ir/infer_types.h"
#include "core/rewrite/lower/passes.h"

namespace mlopt::lower {
namespace {

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  const std::vector<Value*>& terms = m.root->inputs();
  if (terms.size() < 2) return Decline{"it has one term"};
  const DType number = m.root->output(0)->type.dtype;
  if (terms.size() > 2 && (number == DType::kF16 || number == DType::kBF16))
    return Decline{"16 bits hold no partial sums"};
  Value* total = terms.front();
  for (size_t i = 1; i < terms.size(); ++i) {
    Type type =
        i + 1 == terms.size()
            ? m.root->output(0)->type
            : Type::tensor(total->type.dtype, infer_rules::broadcast_dims(total->type.dims, terms[i]->type.dims));
    total = builder.op("Add", {total, terms[i]}, {}, std::move(type));
  }
  return Replacement{total};
}

std::vector<Rule> rules() { return {{Pattern::op("Sum", {}).open(), rewrite}}; }

}  // namespace

const Pass sum = {"sum", "sums of many as sums of two, so that a product can take them", rules};

}  // namespace mlopt::lower
