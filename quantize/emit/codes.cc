#include "quantize/emit/codes.h"

#include "core/tensor/cast.h"
#include "core/tensor/compare.h"

namespace mlopt::quantize {

Stored CodeWriter::store(const std::string& base, const Tensor& codes, const Tensor& scale, const Tensor& zero_point) {
  return {graph_.add_constant(base + "_quantized", codes), graph_.add_constant(base + "_scale", scale),
          graph_.add_constant(base + "_zero_point", zero_point)};
}

Stored CodeWriter::store(const Value* w, const QuantizedWeight& q, int axis) {
  const auto it = weights_.find({w, axis});
  if (it != weights_.end() && !mismatch(*it->second.scale->constant, q.scale, 0, 0)) return it->second;
  const Stored made = store(w->name, q.codes, q.scale, q.zero_point);
  weights_.emplace(std::pair{w, axis}, made);
  return made;
}

Stored CodeWriter::store(const std::string& base, const QuantizedBias& b) {
  return store(base, b.codes, b.scale, Tensor::zeros(DType::kI32, b.scale.dims()));
}

Value* CodeWriter::dequantized(const Node* before, const Stored& stored, const std::string& base, int axis) {
  std::vector<Attr> attrs;
  if (axis >= 0) attrs.push_back({"axis", int64_t{axis}, {}});
  Node* dq = graph_.add_op("DequantizeLinear", {stored.codes, stored.scale, stored.zero_point}, std::move(attrs),
                           before, base + "_dequantized");
  dq->name = dq->output(0)->name;
  dq->output(0)->type = Type::tensor(DType::kF32, stored.codes->constant->dims());
  return dq->output(0);
}

std::pair<Node*, Node*> CodeWriter::rounded(Value* x, Value* scale, Value* zero_point, const Node* before) {
  Node* q = graph_.add_op("QuantizeLinear", {x, scale, zero_point}, {}, before, x->name + "_quantized");
  Node* dq = graph_.add_op("DequantizeLinear", {q->output(0), scale, zero_point}, {}, before, x->name + "_dequantized");
  for (Node* node : {q, dq}) node->name = node->output(0)->name;  // unique, as runtimes want it
  q->output(0)->type = Type::tensor(zero_point->constant->dtype(), x->type.dims);
  dq->output(0)->type = x->type;
  return {q, dq};
}

void CodeWriter::limit(Node* quantize, int least, int most) {
  const Value* scale = quantize->input(1);
  const auto bound = [&](int steps) {
    const float number = static_cast<float>(steps) * to_floats(*scale->constant)[0];
    return graph_.add_constant(scale->name + (steps > 0 ? "_most" : "_least"), Tensor::scalar(number));
  };
  Value* x = quantize->input(0);
  const Node* clip = graph_.add_op("Clip", {x, bound(least), bound(most)}, {}, quantize, x->name + "_clipped");
  clip->output(0)->type = x->type;
  graph_.set_input(quantize, 0, clip->output(0));
}

}  // namespace mlopt::quantize
