#include "quantize/reconstruct/soft_weight.h"

#include <algorithm>
#include <cmath>

#include "core/tensor/cast.h"

namespace mlopt::quantize {
namespace {

constexpr float kLow = -0.1F, kHigh = 1.1F;  // what the sigmoid is stretched to before it is cut to [0, 1]

/// Standard operators at the front of a graph.
class Front {
 public:
  explicit Front(Model& model) : model_(model), first_(model.graph->next(nullptr)) {}

  Value* constant(const char* name, Tensor tensor) { return model_.graph->add_constant(name, std::move(tensor)); }
  Value* op(const char* op, std::vector<Value*> inputs, const Type& type, std::vector<Attr> attrs = {}) {
    Node* made = model_.graph->add_op(op, std::move(inputs), std::move(attrs), first_, "brecq/soft");
    made->output(0)->type = type;
    return made->output(0);
  }
  Value* clipped(Value* x) {
    constexpr int64_t kInputs = 11;  // opset since which the limits are inputs
    if (model_.opset() < kInputs) return op("Clip", {x}, x->type, {{"min", 0.0F, {}}, {"max", 1.0F, {}}});
    Value *low = constant("brecq/low", Tensor::scalar(0.0F)), *high = constant("brecq/high", Tensor::scalar(1.0F));
    return op("Clip", {x, low, high}, x->type);
  }

 private:
  Model& model_;
  const Node* first_;
};

}  // namespace

/// The values on both sides of each number, in the weight's place, and the codes of the lower ones as Coded has them.
struct SoftWeight::Between {
  Tensor below, step, learned;
  std::vector<uint8_t> lower;
};

SoftWeight::SoftWeight(Weight weight, Coded nearest) : weight_(std::move(weight)), coded_(std::move(nearest)) {}

size_t SoftWeight::at(int64_t r, int64_t c) const {
  return static_cast<size_t>(weight_.row_at[static_cast<size_t>(r)] + weight_.column_at[static_cast<size_t>(c)]);
}

Tensor SoftWeight::values() const {
  const Matrix numbers = decode(coded_);
  Tensor tensor(DType::kF32, weight_.value->constant->dims());
  float* to = tensor.mutable_data<float>();
  for (int64_t r = 0; r < weight_.rows; ++r)
    for (int64_t c = 0; c < weight_.columns; ++c) to[at(r, c)] = numbers.at(r, c);
  return tensor;
}

SoftWeight::Between SoftWeight::between() const {
  const Dims& dims = weight_.value->constant->dims();
  Between all{Tensor(DType::kF32, dims), Tensor(DType::kF32, dims), Tensor(DType::kF32, dims), coded_.codes};
  float *below = all.below.mutable_data<float>(), *step = all.step.mutable_data<float>(),
        *learned = all.learned.mutable_data<float>();
  const Matrix numbers = load(weight_);
  for (int64_t r = 0; r < weight_.rows; ++r)
    for (int64_t c = 0; c < weight_.columns; ++c) {
      const Alphabet alphabet = coded_.alphabet(coded_.alphabet_at(r, c));
      uint8_t& code = all.lower[static_cast<size_t>(r * weight_.columns + c)];
      const float x = numbers.at(r, c);
      code = alphabet.nearest(x);
      if (x == 0) {  // pruned: it has no other value
        below[at(r, c)] = alphabet.value(code);
        step[at(r, c)] = 0;
        learned[at(r, c)] = -1;
        continue;
      }
      if (code == alphabet.most || (code > 0 && alphabet.value(code) > x)) --code;
      const size_t i = at(r, c);
      below[i] = alphabet.value(code);
      step[i] = alphabet.value(static_cast<uint8_t>(code + 1)) - below[i];
      constexpr float kEdge = 0.01F;
      const float share = std::isfinite(x) && step[i] > 0 ? (x - below[i]) / step[i] : 0;
      learned[i] = -std::log((kHigh - kLow) / (std::clamp(share, kEdge, 1 - kEdge) - kLow) - 1);
    }
  return all;
}

Value* SoftWeight::soften(Model& part, const std::string& variable) const {
  const Between all = between();
  Front front(part);
  Value* weight = part.graph->find(name());
  const Type type = Type::tensor(DType::kF32, weight->constant->dims());
  Value* sigmoid = front.op("Sigmoid", {part.graph->add_constant(variable, all.learned)}, type);
  Value* wide = front.op("Mul", {sigmoid, front.constant("brecq/width", Tensor::scalar(kHigh - kLow))}, type);
  Value* share = front.clipped(front.op("Add", {wide, front.constant("brecq/least", Tensor::scalar(kLow))}, type));
  Value* above = front.op("Mul", {share, front.constant("brecq/step", all.step)}, type);
  part.graph->replace_uses(weight, front.op("Add", {above, front.constant("brecq/below", all.below)}, type));
  return share;
}

void SoftWeight::harden(const Tensor& learned) {
  const Between all = between();
  const std::vector<float> numbers = to_floats(learned);
  const float* step = all.step.data<float>();
  for (int64_t r = 0; r < weight_.rows; ++r)
    for (int64_t c = 0; c < weight_.columns; ++c) {
      const auto i = static_cast<size_t>(r * weight_.columns + c);
      // A share above a half: the sigmoid is stretched around its middle.
      coded_.codes[i] = static_cast<uint8_t>(all.lower[i] + (numbers[at(r, c)] > 0 && step[at(r, c)] > 0));
    }
}

}  // namespace mlopt::quantize
