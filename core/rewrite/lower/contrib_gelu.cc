// com.microsoft's BiasGelu and FastGelu -> Add and Gelu, which join the product before them.
#include "core/rewrite/lower/passes.h"

namespace mlopt::lower {
namespace {

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  Value *x = m.root->input(0), *bias = m.root->input(1);
  if (!x || x->type.dtype != DType::kF32) return Decline{"it is not float32"};
  if (bias) x = builder.op("Add", {x, bias}, {}, m.root->output(0)->type);
  const char* form = m.root->op == "FastGelu" ? "tanh" : "none";
  return Replacement{builder.op("Gelu", {x}, {{"approximate", form, ""}}, m.root->output(0)->type)};
}

std::vector<Rule> rules() { return {{Pattern::op("BiasGelu|FastGelu", {}).open().domain("com.microsoft"), rewrite}}; }

}  // namespace

const Pass contrib_gelu = {"contrib_gelu", "a sum and its GELU apart, so that a product can take both", rules};

}  // namespace mlopt::lower
