#include "prune/structure/member_weight.h"

#include "core/ir/view.h"
#include "core/tensor/cast.h"

namespace mlopt::prune {
namespace {

Tensor floats(const Tensor& tensor) {
  return (tensor.dtype() == DType::kF32 ? tensor : cast(tensor, DType::kF32)).aligned();
}

/// (numbers - zero) scale, with one scale for all or for each entry of an axis.
std::optional<Tensor> dequantized(const Node& node) {
  const auto constant = [&](int i) { return node.input(i) ? node.input(i)->known_constant() : nullptr; };
  const Tensor *numbers = constant(0), *scale = constant(1), *zero = constant(2);
  if (!numbers || !scale || numbers->rank() < 2 || scale->rank() > 1 || is_sub_byte(numbers->dtype()) ||
      (node.input(2) && (!zero || zero->size() != scale->size())))
    return std::nullopt;
  const Attr* along = node.attr("axis");
  const auto* given = along ? std::get_if<int64_t>(&along->value) : nullptr;
  const int axis = normalize_axis(given ? *given : 1, numbers->rank());
  if (scale->size() != 1 && scale->size() != numbers->dim(axis)) return std::nullopt;
  Tensor out = cast(*numbers, DType::kF32);
  const Tensor steps = floats(*scale), zeros = zero ? floats(*zero) : Tensor::zeros(DType::kF32, {scale->size()});
  const auto n = static_cast<size_t>(scale->size());
  const auto inner = static_cast<size_t>(row_major_strides(out.dims())[static_cast<size_t>(axis)]);
  float* v = out.mutable_data<float>();
  for (size_t i = 0; i < static_cast<size_t>(out.size()); ++i) {
    const size_t c = n == 1 ? 0 : i / inner % n;
    v[i] = (v[i] - zeros.data<float>()[c]) * steps.data<float>()[c];
  }
  return out;
}

}  // namespace

std::optional<Tensor> member_weight(const Axis& axis) {
  const Node* producer = axis.value->producer;
  if (producer && producer->is("DequantizeLinear")) return dequantized(*producer);
  const Tensor* t = axis.value->known_constant();
  if (!t || t->rank() < 2 || !is_float(t->dtype()) || is_sub_byte(t->dtype())) return std::nullopt;
  return floats(*t);
}

}  // namespace mlopt::prune
