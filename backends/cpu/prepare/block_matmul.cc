// mlopt.BlockMatMul of more than a few rows -> MatMul by floats, which then cost less to read than codes to unpack.
#include "backends/cpu/prepare/prepare.h"

namespace mlopt::cpu {
namespace {

constexpr int64_t kFewRows = 4;

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  const auto dims = m.root->input(0)->type.static_dims();
  if (dims && !dims->empty() && element_count(*dims) <= kFewRows * dims->back())
    return Decline{"few rows read codes sooner than floats"};
  return Replacement{builder.op("MatMul", {m.root->input(0), m.root->input(1)}, {}, m.root->output(0)->type)};
}

std::vector<Rule> rules() {
  return {{Pattern::op("BlockMatMul", {Pattern::any("x")}).domain("mlopt").open(), rewrite}};
}

}  // namespace

const Pass block_matmul = {"block_matmul", "products of many rows by floats in the place of codes", rules};

}  // namespace mlopt::cpu
