// ImageScaler, Affine and Crop, which no opset after the first ones has though exporters wrote them there too -> Mul,
// Add and Slice. Erfc, which none has and TensorFlow's exporter writes for Keras's exact GELU -> 1 - Erf.
#include <limits>

#include "core/tensor/cast.h"
#include "graphopt/passes.h"

namespace mlopt::graphopt {
namespace {

/// x * factor + addend, which may be a number for each channel; 1 and 0 are left out.
Expected<Replacement> scaled(Value* x, float factor, const std::vector<float>& addend, Builder& builder) {
  constexpr int64_t kBroadcastOpset = 7;
  if (builder.opset() < kBroadcastOpset) return Decline{"its opset adds along an axis otherwise"};
  const Type type = x->type;
  const DType number = type.has_dtype() ? type.dtype : DType::kF32;
  if (factor != 1)
    x = builder.op("Mul", {x, builder.constant("factor", cast(Tensor::scalar(factor), number))}, {}, type);
  if (addend == std::vector<float>{0}) return Replacement{x};
  const Tensor one = Tensor::scalar(addend[0]), all = Tensor::of<float>({std::ssize(addend), 1, 1}, addend);
  return Replacement{
      builder.op("Add", {x, builder.constant("addend", cast(addend.size() == 1 ? one : all, number))}, {}, type)};
}

Expected<Replacement> scaled_image(const Match& m, Builder& builder) {
  const NodeView view = builder.view(*m.root);
  const std::vector<float> bias = view.has("bias") ? view.get_floats("bias") : std::vector<float>{};
  return scaled(m.root->input(0), view.get_float("scale", 1), bias.empty() ? std::vector<float>{0} : bias, builder);
}

Expected<Replacement> affine(const Match& m, Builder& builder) {
  const NodeView view = builder.view(*m.root);
  return scaled(m.root->input(0), view.get_float("alpha", 1), {view.get_float("beta", 0)}, builder);
}

/// What `border` (left, top, right, bottom) leaves of a picture, or `scale` (height, width) of it from the top left.
Expected<Replacement> cropped(const Match& m, Builder& builder) {
  constexpr int64_t kInputsOpset = 10, kEnd = std::numeric_limits<int32_t>::max();
  const NodeView view = builder.view(*m.root);
  const std::vector<int64_t> border = view.get_ints("border"), size = view.get_ints("scale");
  if (border.size() != 4 || (!size.empty() && size.size() != 2)) return Decline{"its border is odd"};
  const auto end = [&](size_t axis) {
    if (!size.empty()) return border[1 - axis] + size[axis];
    const int64_t cut = border[3 - axis];
    return cut == 0 ? kEnd : -cut;
  };
  const std::vector<int64_t> starts = {border[1], border[0]}, ends = {end(0), end(1)}, axes = {2, 3};
  Value* x = m.root->input(0);
  if (builder.opset() < kInputsOpset)
    return Replacement{builder.op("Slice", {x}, {{"starts", starts, {}}, {"ends", ends, {}}, {"axes", axes, {}}})};
  const auto list = [&](const char* name, const std::vector<int64_t>& v) {
    return builder.constant(name, Tensor::ints(v));
  };
  return Replacement{builder.op("Slice", {x, list("starts", starts), list("ends", ends), list("axes", axes)})};
}

/// What v is the opposite of, where that is at hand; null for others.
Value* opposite(const Value* v, Builder& builder) {
  if (const Node* neg = producer_of(v, "Neg")) return neg->input(0);
  const Node* node = v->producer;
  if (!node || !(node->is("Mul") || node->is("Div"))) return nullptr;
  std::vector<Value*> inputs = node->inputs();
  for (Value*& input : inputs)
    if (const Node* neg = producer_of(input, "Neg")) {
      input = neg->input(0);
      return builder.op(node->op, inputs, {}, v->type);
    }
  return nullptr;
}

Expected<Replacement> erfc(const Match& m, Builder& builder) {
  constexpr int64_t kErfOpset = 9;
  const Value* x = m.root->input(0);
  if (builder.opset() < kErfOpset) return Decline{"its opset has no Erf"};
  if (!x->type.is_tensor() || !is_float(x->type.dtype)) return Decline{"it is of no known floats"};
  Value* one = builder.constant("one", cast(Tensor::scalar(1.0F), x->type.dtype));
  // The sum is how GELU is found.
  if (Value* y = opposite(x, builder))
    return Replacement{builder.op("Add", {builder.op("Erf", {y}, {}, x->type), one}, {}, x->type)};
  return Replacement{builder.op("Sub", {one, builder.op("Erf", m.root->inputs(), {}, x->type)}, {}, x->type)};
}

std::vector<Rule> rules() {
  return {{Pattern::op("ImageScaler", {Pattern::any("x")}), scaled_image},
          {Pattern::op("Affine", {Pattern::any("x")}), affine},
          {Pattern::op("Crop", {Pattern::any("x")}), cropped},
          {Pattern::op("Erfc", {Pattern::any("x")}), erfc}};
}

}  // namespace

const Pass replace_experimental = {
    "replace_experimental", "replace ImageScaler, Affine, Crop and Erfc by operators that the standard has", rules};

}  // namespace mlopt::graphopt
