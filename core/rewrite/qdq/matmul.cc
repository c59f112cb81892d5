// QuantizeLinear(MatMul(DequantizeLinear a, DequantizeLinear b)) -> QLinearMatMul(a, b); without the QuantizeLinear,
// MatMulIntegerToFloat(a, b).
#include "core/rewrite/qdq/passes.h"
#include "core/rewrite/qdq/steps.h"

namespace mlopt::qdq {
namespace {

struct Operands {
  Stored a, b;
};

Expected<Operands> operands(const Node& matmul, Builder& builder) {
  const Value* right = matmul.input(1)->producer->input(0);
  const int columns = right->known_constant() ? right->known_constant()->rank() - 1 : -1;
  const auto a = stored(matmul.input(0), builder), b = stored(matmul.input(1), builder, columns);
  if (!a || !b) return Decline{"its operands have no constant steps of 8 bits"};
  return Operands{*a, *b};
}

Expected<Replacement> to_integers(const Match& m, Builder& builder) {
  const auto o = operands(*m.node("matmul"), builder);
  if (!o) return o.error();
  const auto y = stored_by(m.root, builder);
  if (!y) return Decline{"its output has no constant steps of 8 bits"};
  const auto& [a, b] = *o;
  std::vector<Value*> inputs{a.numbers, a.scale, a.zero, b.numbers, b.scale, b.zero, y->scale, y->zero};
  return Replacement{other_op(m, *m.node("matmul"), builder, "QLinearMatMul", std::move(inputs), {}, "")};
}

Expected<Replacement> to_floats(const Match& m, Builder& builder) {
  const auto o = operands(*m.node("matmul"), builder);
  if (!o) return o.error();
  const auto& [a, b] = *o;
  std::vector<Value*> inputs{a.numbers, b.numbers, a.scale, b.scale, a.zero, b.zero};
  return Replacement{other_op(m, *m.node("matmul"), builder, "MatMulIntegerToFloat", std::move(inputs))};
}

Pattern dequantized() { return Pattern::op("DequantizeLinear", {Pattern::any("")}).open(); }
Pattern matmul_pattern() { return Pattern::op("MatMul", {dequantized(), dequantized()}).as("matmul"); }

std::vector<Rule> integer_rules() {
  return {{Pattern::op("QuantizeLinear", {matmul_pattern().single_use()}).open(), to_integers}};
}

std::vector<Rule> float_rules() { return {{matmul_pattern(), to_floats}}; }

}  // namespace

const Pass matmul = {"qdq_matmul", "MatMul between DequantizeLinear and QuantizeLinear on integers", integer_rules};
const Pass matmul_float = {"qdq_matmul_float", "MatMul of DequantizeLinear on integers", float_rules};

}  // namespace mlopt::qdq
