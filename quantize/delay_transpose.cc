#include "quantize/delay_transpose.h"

namespace mlopt::quantize {
namespace {

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  const std::vector<int64_t> perm = builder.view(*m.node("transpose")).get_ints("perm");
  if (m.constant("w").rank() != 2) return Decline{"its weight is no matrix"};
  if (perm.empty() || perm.back() != static_cast<int64_t>(perm.size()) - 1) return Decline{"it moves the last axis"};
  Type product = m.value("x")->type;
  if (product.dims) product.dims->back() = m.constant("w").dim(1);
  Value* y = builder.op("MatMul", {m.value("x"), m.value("w")}, {}, std::move(product));
  return Replacement{builder.op("Transpose", {y}, {{"perm", perm, {}}}, m.root->output(0)->type)};
}

std::vector<Rule> rules() {
  return {{Pattern::op("MatMul", {Pattern::op("Transpose", {Pattern::any("x")}).as("transpose").single_use(),
                                  Pattern::constant("w")}),
           rewrite}};
}

}  // namespace

const Pass delay_transpose = {"delay_transpose", "MatMul before a Transpose that leaves the last axis alone", rules};

}  // namespace mlopt::quantize
