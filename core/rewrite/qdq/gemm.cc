// [QuantizeLinear](Gemm(DequantizeLinear a, DequantizeLinear b, c)) -> QGemm(a, b, c).
#include "core/rewrite/qdq/passes.h"
#include "core/rewrite/qdq/steps.h"

namespace mlopt::qdq {
namespace {

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  Node* gemm = m.node("gemm");
  const NodeView view = builder.view(*gemm);
  if (view.get_float("beta", 1) != 1 || view.get_float("alpha", 1) != 1) return Decline{"it scales its operands"};
  const int columns = view.get_int("transB", 0) != 0 ? 0 : 1;
  const auto a = stored(gemm->input(0), builder), b = stored(gemm->input(1), builder, columns);
  if (!a || !b) return Decline{"its operands have no constant steps of 8 bits"};
  std::vector<Value*> inputs{a->numbers, a->scale, a->zero, b->numbers, b->scale, b->zero, nullptr};
  if (const Value* bias = gemm->input(2)) {
    auto steps = bias_steps(bias, *a, *b);
    if (!steps) return Decline{"what it adds is not constant or too large"};
    inputs.back() = builder.constant(bias->name + "_steps", std::move(*steps));
  }
  if (m.root != gemm) {
    const auto y = stored_by(m.root, builder);
    if (!y) return Decline{"its output has no constant steps of 8 bits"};
    inputs.insert(inputs.end(), {y->scale, y->zero});
  } else if (!inputs.back()) {
    inputs.pop_back();
  }
  std::vector<Attr> attrs;
  for (const Attr& attr : gemm->attrs)
    if (attr.name == "transA" || attr.name == "transB") attrs.push_back(attr);
  return Replacement{other_op(m, *gemm, builder, "QGemm", std::move(inputs), std::move(attrs))};
}

Pattern gemm_pattern() {
  const auto dequantized = [] { return Pattern::op("DequantizeLinear", {Pattern::any("")}).open(); };
  return Pattern::op("Gemm", {dequantized(), dequantized()}).open().as("gemm");
}

std::vector<Rule> rules() { return {{Pattern::op("QuantizeLinear", {gemm_pattern().single_use()}).open(), rewrite}}; }
std::vector<Rule> float_rules() { return {{gemm_pattern(), rewrite}}; }

}  // namespace

const Pass gemm = {"qdq_gemm", "Gemm between DequantizeLinear and QuantizeLinear on integers", rules};
const Pass gemm_float = {"qdq_gemm_float", "Gemm of DequantizeLinear on integers", float_rules};

}  // namespace mlopt::qdq
