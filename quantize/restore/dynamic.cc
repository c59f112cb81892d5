// Mul(Cast(MatMulInteger(q, W, zero, Z)), Mul(step, S)) where q, step, zero = DynamicQuantizeLinear(x)
// -> Mul(MatMul(x, W - Z), S); ConvInteger likewise. Mul(Mul(Cast(MatMulInteger(q, W, zero, Z)), S), peaks) where q =
// QuantizeLinear(Div(x, peaks), step, zero) -> Mul(MatMul(x, W - Z), S / step).
#include "core/tensor/cast.h"
#include "quantize/restore/passes.h"

namespace mlopt::quantize {
namespace {

/// The product of floats; x is what was quantized.
Expected<Value*> product(const Node& node, Value* x, Builder& builder) {
  const Value *w = node.input(1), *zero = node.input(3);
  if (!w || !w->known_constant() || (zero && !zero->known_constant())) return Decline{"its weights are not constant"};
  const Tensor& codes = *w->known_constant();
  const bool conv = node.is("ConvInteger");
  const Tensor* zeros = zero ? zero->known_constant() : nullptr;
  Tensor numbers = decoded(codes, Tensor::scalar(1.0f), zeros, conv ? 0 : codes.rank() - 1);
  return builder.op(conv ? "Conv" : "MatMul", {x, builder.constant(w->name + "_floats", std::move(numbers))},
                    node.attrs, Type::tensor(DType::kF32, node.output(0)->type.dims));
}

/// Rows in steps of their own; null where they are not.
Expected<Value*> by_rows(const Node& mul, Builder& builder) {
  for (const int i : {0, 1}) {
    const Node* scaled = producer_of(mul.input(i), "Mul");
    for (const int j : {0, 1}) {
      const Node* cast_node = scaled ? producer_of(scaled->input(j), "Cast") : nullptr;
      const Node* integer = cast_node ? producer_of(cast_node->input(0), "MatMulInteger") : nullptr;
      const Node* q = integer ? producer_of(integer->input(0), "QuantizeLinear") : nullptr;
      const Node* div = q ? producer_of(q->input(0), "Div") : nullptr;
      if (!div || div->input(1) != mul.input(1 - i)) continue;
      const Tensor *scale = scaled->input(1 - j)->known_constant(), *step = q->input(1)->known_constant();
      if (!scale || !step || step->size() != 1 || integer->input(2) != q->input(2))
        return Decline{"its steps are not constant shares of its peaks"};
      const auto y = product(*integer, div->input(0), builder);
      if (!y) return y.error();
      std::vector<float> scales = to_floats(*scale);
      for (float& s : scales) s /= to_floats(*step)[0];
      Value* by = builder.constant(scaled->input(1 - j)->name, Tensor::of<float>(scale->dims(), scales));
      return builder.op("Mul", {*y, by}, {}, mul.output(0)->type);
    }
  }
  return nullptr;
}

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  const Node& mul = *m.root;
  const auto rows = by_rows(mul, builder);
  if (!rows) return rows.error();
  if (*rows) return Replacement{*rows};
  for (const int i : {0, 1}) {
    const Node* cast_node = producer_of(mul.input(i), "Cast");
    const Node* integer = cast_node ? producer_of(cast_node->input(0), "MatMulInteger") : nullptr;
    if (!integer && cast_node) integer = producer_of(cast_node->input(0), "ConvInteger");
    const Node* q = integer ? producer_of(integer->input(0), "DynamicQuantizeLinear") : nullptr;
    if (!q) continue;
    if (integer->input(2) != q->output(2)) return Decline{"its zero point is another's"};
    Value* scale = mul.input(1 - i);
    const Node* both = producer_of(scale, "Mul");
    Value* other = !both ? nullptr : both->input(0) == q->output(1) ? both->input(1) : both->input(0);
    if (scale != q->output(1) && !(both && (both->input(0) == q->output(1) || both->input(1) == q->output(1))))
      return Decline{"its result is not in steps of its input"};
    const auto y = product(*integer, q->input(0), builder);
    if (!y) return y.error();
    return Replacement{other ? builder.op("Mul", {*y, other}, {}, mul.output(0)->type) : *y};
  }
  return Decline{""};
}

std::vector<Rule> rules() { return {{Pattern::op("Mul", {Pattern::any("a"), Pattern::any("b")}), rewrite}}; }

}  // namespace

const Pass restore_dynamic = {"restore_dynamic", "integer products of what is quantized at run time as products",
                              rules};

}  // namespace mlopt::quantize
