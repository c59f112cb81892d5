// Operators on integers with scales and zero points, of the standard and of com.microsoft.
#include <map>
#include <string_view>

#include "core/ir/infer_types.h"

namespace mlopt::infer_rules {
namespace {

/// Of 8 bits: the zero point's type, or uint8.
DType quantized_type(const NodeView& view, int zero) {
  return view.node().input(zero) ? dtype_of(view, zero) : DType::kU8;
}

Types quantize(const NodeView& view) {
  const auto asked = static_cast<DType>(view.get_int("output_dtype", 0));
  const bool says = asked != DType::kUndefined && !view.node().input(2);
  return one(says ? asked : quantized_type(view, 2), dims_of(view, 0));
}

Types dequantize(const NodeView& view) {
  const auto asked = static_cast<DType>(view.get_int("output_dtype", 0));
  return one(asked != DType::kUndefined ? asked : dtype_of(view, 1), dims_of(view, 0));
}

Types dynamic_quantize(const NodeView& view) {
  return {Type::tensor(DType::kU8, dims_of(view, 0)), Type::tensor(DType::kF32, SymDims{}),
          Type::tensor(DType::kU8, SymDims{})};
}

Types conv(const NodeView& view) { return convolution_of(view, 0, 3, dtype_of(view, 7)); }
Types integer_conv(const NodeView& view) { return convolution_of(view, 0, 1, DType::kI32); }
Types product(const NodeView& view) { return one(dtype_of(view, 7), product_dims(dims_of(view, 0), dims_of(view, 3))); }
Types integer_product(const NodeView& view) {
  return one(DType::kI32, product_dims(dims_of(view, 0), dims_of(view, 1)));
}
Types float_product(const NodeView& view) { return one(DType::kF32, product_dims(dims_of(view, 0), dims_of(view, 1))); }

/// By weights that are stored [N, K].
Types stored_product(const NodeView& view) {
  std::optional<SymDims> dims = dims_of(view, 0);
  if (dims && !dims->empty()) dims->back() = view.get_int("N", 0);
  return one(dtype_of(view, 0), dims);
}

Types quantized_gemm(const NodeView& view) {
  const DType type = view.node().input(7) ? quantized_type(view, 8) : DType::kF32;
  const auto &a = dims_of(view, 0), &b = dims_of(view, 3);
  if (!a || !b || a->size() != 2 || b->size() != 2) return one(type, std::nullopt);
  return one(type, SymDims{(*a)[view.get_int("transA", 0) ? 1 : 0], (*b)[view.get_int("transB", 0) ? 0 : 1]});
}

Types binary(const NodeView& view) {
  return one(dtype_of(view, 0), broadcast_dims(dims_of(view, 0), dims_of(view, 3)));
}

Types same(const NodeView& view) { return one(dtype_of(view, 0), dims_of(view, 0)); }

/// The output's scale and zero point, then each input with its own.
Types joined(const NodeView& view) {
  std::optional<SymDims> out = dims_of(view, 2);
  const int64_t asked = view.get_int("axis", 1), rank = out ? static_cast<int64_t>(out->size()) : 0;
  const int64_t axis = asked < 0 ? asked + rank : asked;
  if (axis < 0 || axis >= rank) return one(dtype_of(view, 2), std::nullopt);
  Dim& length = (*out)[static_cast<size_t>(axis)];
  for (int i = 5; i < static_cast<int>(view.node().inputs().size()); i += 3) {
    const auto& more = dims_of(view, i);
    if (!more || static_cast<int64_t>(more->size()) != rank) return one(dtype_of(view, 2), std::nullopt);
    length = length + (*more)[static_cast<size_t>(axis)];
  }
  return one(dtype_of(view, 2), out);
}

}  // namespace

std::span<const std::pair<std::string_view, TypeOf>> quantized_rules() {
  static constexpr std::pair<std::string_view, TypeOf> kRules[] = {
      {"QuantizeLinear", quantize}, {"DequantizeLinear", dequantize}, {"DynamicQuantizeLinear", dynamic_quantize},
      {"QLinearConv", conv},        {"QLinearMatMul", product},       {"MatMulInteger", integer_product},
      {"ConvInteger", integer_conv}};
  return kRules;
}

std::optional<Types> quantized_types(const NodeView& view) {
  static const std::map<std::string_view, TypeOf> kMicrosoft = {{"QuantizeLinear", quantize},
                                                                {"DequantizeLinear", dequantize},
                                                                {"QLinearConv", conv},
                                                                {"MatMulIntegerToFloat", float_product},
                                                                {"DynamicQuantizeMatMul", float_product},
                                                                {"DynamicQuantizeLSTM", recurrent},
                                                                {"MatMulNBits", stored_product},
                                                                {"MatMulBnb4", stored_product},
                                                                {"QGemm", quantized_gemm},
                                                                {"QLinearAdd", binary},
                                                                {"QLinearMul", binary},
                                                                {"QLinearSigmoid", same},
                                                                {"QLinearLeakyRelu", same},
                                                                {"QLinearConcat", joined},
                                                                {"QLinearGlobalAveragePool", global_pool}};
  if (view.node().is("QLinearConvAdd", "mlopt")) return conv(view);
  if (view.node().domain != "com.microsoft" || view.get_int("channels_last", 0) != 0) return std::nullopt;
  const auto it = kMicrosoft.find(view.node().op);
  return it == kMicrosoft.end() ? std::nullopt : std::optional(it->second(view));
}

}  // namespace mlopt::infer_rules
