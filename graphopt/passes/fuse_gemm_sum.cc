// Gemm(a, B) + c -> Gemm(a, B, c) where Gemm has no summand yet and c broadcasts to its result.
#include "graphopt/passes.h"

namespace mlopt::graphopt {
namespace {

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  const Node& gemm = *m.node("gemm");
  Value* c = m.value("c");
  const auto &from = c->type.dims, &to = m.value("gemm")->type.dims;
  if (builder.opset() < 7) return Decline{"Gemm broadcasts its summand in another way before opset 7"};
  if (!from || !to || to->size() != 2 || from->size() > 2) return Decline{"the shape of its summand is not known"};
  for (size_t i = 0; i < from->size(); ++i) {
    const Dim &d = (*from)[from->size() - 1 - i], &result = (*to)[1 - i];
    if (!d.is(1) && !(d == result)) return Decline{"its summand does not provably broadcast to the product"};
  }
  Value* made = builder.op("Gemm", {gemm.input(0), gemm.input(1), c}, gemm.attrs, m.root->output(0)->type);
  made->producer->remove_attr("beta");
  return Replacement{made};
}

std::vector<Rule> rules() {
  return {{Pattern::op("Add", {Pattern::op("Gemm", {Pattern::any("a"), Pattern::any("b")}).as("gemm").single_use(),
                               Pattern::any("c")})
               .any_order(),
           rewrite}};
}

}  // namespace

const Pass fuse_gemm_sum = {"fuse_gemm_sum", "let Gemm add what is added to it", rules};

}  // namespace mlopt::graphopt
