#include "quantize/unfuse.h"

#include <algorithm>
#include <array>
#include <limits>

#include "core/tensor/cast.h"

namespace mlopt::quantize {
namespace {

constexpr std::array kActivations = {"", "Relu", "Sigmoid", "Tanh", "LeakyRelu", "HardSigmoid", "Clip"};

/// The activation of the fused node, one of the above, over `x`.
Value* activated(Value* x, const NodeView& fused, Builder& builder) {
  const std::string op = fused.get_string("activation", "");
  const std::vector<float> params =
      fused.has("activation_params") ? fused.get_floats("activation_params") : std::vector<float>{};
  const auto param = [&](size_t i, float otherwise) { return i < params.size() ? params[i] : otherwise; };
  if (op.empty()) return x;
  if (op == "Relu" || op == "Sigmoid" || op == "Tanh") return builder.op(op, {x}, {}, x->type);
  if (op == "LeakyRelu") return builder.op(op, {x}, {{"alpha", param(0, 0.01f), {}}}, x->type);
  if (op == "HardSigmoid")
    return builder.op(op, {x}, {{"alpha", param(0, 0.2f), {}}, {"beta", param(1, 0.5f), {}}}, x->type);
  const float low = param(0, std::numeric_limits<float>::lowest()), high = param(1, std::numeric_limits<float>::max());
  if (builder.opset() < 11) return builder.op(op, {x}, {{"min", low, {}}, {"max", high, {}}}, x->type);
  return builder.op(
      op, {x, builder.constant("clip_min", Tensor::scalar(low)), builder.constant("clip_max", Tensor::scalar(high))},
      {}, x->type);
}

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  const Node& fused = *m.root;
  if (std::find(kActivations.begin(), kActivations.end(), builder.view(fused).get_string("activation", "")) ==
      kActivations.end())
    return Decline{"its activation is not known"};
  std::vector<Attr> attrs;
  for (const Attr& attr : fused.attrs)
    if (attr.name != "activation" && attr.name != "activation_params") attrs.push_back(attr);
  std::vector<Value*> inputs = {fused.input(0), fused.input(1)};
  if (fused.input(2)) inputs.push_back(fused.input(2));
  Type type = fused.output(0)->type;
  if (!type.is_tensor()) type = Type::tensor(fused.input(0)->type.dtype);
  Value* y = builder.op("Conv", std::move(inputs), std::move(attrs), type);
  if (fused.input(3)) y = builder.op("Add", {y, fused.input(3)}, {}, type);
  return Replacement{activated(y, builder.view(fused), builder)};
}

/// x * factor + addend, which may be a number for each channel; 1 and 0 are left out.
Expected<Replacement> scaled(Value* x, float factor, const std::vector<float>& addend, Builder& builder) {
  constexpr int64_t kBroadcastOpset = 7;
  if (builder.opset() < kBroadcastOpset) return Decline{"its opset adds along an axis otherwise"};
  const Type type = x->type;
  const DType number = type.is_tensor() && type.dtype != DType::kUndefined ? type.dtype : DType::kF32;
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

std::vector<Rule> rules() {
  return {{Pattern::op("ImageScaler", {Pattern::any("x")}), scaled_image},
          {Pattern::op("Affine", {Pattern::any("x")}), affine},
          {Pattern::op("Crop", {Pattern::any("x")}), cropped},
          {Pattern::op("FusedConv", {Pattern::any("x"), Pattern::any("w")}).open().domain("com.microsoft"), rewrite}};
}

}  // namespace

const Pass unfuse = {"unfuse",
                     "FusedConv as Conv, Add and an activation, ImageScaler, Affine and Crop as the standard's", rules};

}  // namespace mlopt::quantize
