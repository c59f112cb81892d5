// Gemm(Transpose(a), b) -> Gemm(a, b) with transA flipped, and the same for b.
#include "graphopt/passes.h"

namespace mlopt::graphopt {
namespace {

bool swaps_two_axes(const NodeView& view) {
  const std::vector<int64_t> perm = view.get_ints("perm");
  return perm.empty() || perm == std::vector<int64_t>{1, 0};
}

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  const int side = m.has("t0") ? 0 : 1;
  Node* transpose = m.node(side == 0 ? "t0" : "t1");
  if (!swaps_two_axes(builder.view(*transpose))) return Decline{"its Transpose does more than swap two axes"};
  std::vector<Value*> inputs = m.root->inputs();
  inputs[static_cast<size_t>(side)] = transpose->input(0);
  Value* made = builder.op("Gemm", std::move(inputs), m.root->attrs);
  const char* flag = side == 0 ? "transA" : "transB";
  made->producer->set_attr(flag, int64_t{builder.view(*m.root).get_int(flag, 0) ? 0 : 1});
  return Replacement{made};
}

std::vector<Rule> rules() {
  return {
      {Pattern::op("Gemm", {Pattern::op("Transpose", {Pattern::any("")}).as("t0"), Pattern::any("")}).open(), rewrite},
      {Pattern::op("Gemm", {Pattern::any(""), Pattern::op("Transpose", {Pattern::any("")}).as("t1")}).open(), rewrite}};
}

}  // namespace

const Pass fuse_transpose_into_gemm = {"fuse_transpose_into_gemm", "let Gemm transpose its operands", rules};

}  // namespace mlopt::graphopt
