#include "cli/number_formats.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "core/ir/view.h"
#include "core/tensor/cast.h"

namespace mlopt::cli {
namespace {

constexpr std::string_view kMicrosoft = "com.microsoft";

/// Scales of one number, of one axis or of blocks.
std::string granularity(const Tensor& scale) {
  if (scale.size() == 1) return "per tensor";
  return scale.rank() == 1 ? "per channel" : "in blocks";
}

std::string dequantize_format(const Node& node) {
  const Value *weight = node.input(0), *scale = node.input(1);
  if (!weight || !weight->known_constant() || !scale || !scale->known_constant()) return {};
  return fmt::format("QDQ, {} weights {}", name(weight->constant->dtype()), granularity(*scale->constant));
}

/// Widths of constants, or of activations.
std::string qonnx_format(const Node& node) {
  const char* of = node.input(0) && node.input(0)->constant ? "weights" : "activations";
  if (node.op == "BipolarQuant") return fmt::format("QONNX, {} of two values", of);
  const Value* bits = node.input(3);
  return bits && bits->constant ? fmt::format("QONNX, {:g}-bit {}", number_at(*bits->constant, 0), of)
                                : fmt::format("QONNX, {}", of);
}

std::string lstm_format(const Node& node) {
  const Value* weight = node.input(1);
  const std::string type = weight && weight->constant ? fmt::format("{} ", name(weight->constant->dtype())) : "";
  return fmt::format("LSTM of {}weights, inputs quantized at run time (DynamicQuantizeLSTM)", type);
}

/// What a node says about the format of the model; empty: nothing.
std::string node_format(const Node& node, int64_t opset) {
  const NodeView view(node, opset);
  if (node.op == "DequantizeLinear") return dequantize_format(node);
  if (node.op == "DynamicQuantizeLinear") return "activations quantized at run time";
  if (node.op == "ConvInteger" || node.op == "MatMulInteger") return "integer products (ConvInteger, MatMulInteger)";
  if (node.op.rfind("QLinear", 0) == 0 || node.is("QGemm", kMicrosoft)) return "QOperator";
  if (node.is("MatMulNBits", kMicrosoft)) {
    return fmt::format("{}-bit weights in blocks of {} (MatMulNBits)", view.get_int("bits", 4),
                       view.get_int("block_size", 0));
  }
  if (node.is("GatherBlockQuantized", kMicrosoft))
    return fmt::format("{}-bit tables in blocks of {} (GatherBlockQuantized)", view.get_int("bits", 4),
                       view.get_int("block_size", 0));
  if (node.is("QAttention", kMicrosoft)) return "attention on integers (QAttention)";
  if (node.is("QEmbedLayerNormalization", kMicrosoft)) return "tables of integers (QEmbedLayerNormalization)";
  if (node.is("DynamicQuantizeLSTM", kMicrosoft)) return lstm_format(node);
  if (node.domain == kMicrosoft && node.op.rfind("DynamicQuantize", 0) == 0)
    return fmt::format("activations quantized at run time ({})", node.op);
  if (node.is("MatMulIntegerToFloat", kMicrosoft)) return "integer products (MatMulIntegerToFloat)";
  if ((node.op == "Quant" || node.op == "BipolarQuant") && !node.domain.empty()) return qonnx_format(node);
  if (node.is("MatMulBnb4", kMicrosoft)) {
    return fmt::format("{} weights in blocks of {} (MatMulBnb4)", view.get_int("quant_type", 1) == 1 ? "nf4" : "fp4",
                       view.get_int("block_size", 0));
  }
  return {};
}

}  // namespace

std::vector<std::string> number_formats(const Model& model) {
  std::map<std::string, int64_t> weights, nodes;  // bytes, occurrences
  // Scales and biases of what is in codes say nothing of how weights are stored. QONNX stores these as floats.
  const auto beside_codes = [&](const Use& use) {
    const std::string format = node_format(*use.node, model.opset(use.node->domain));
    return !format.empty() && format.rfind("QONNX", 0) != 0;
  };
  for (const Value* value : model.graph->initializers()) {
    const bool scale = !value->uses.empty() && std::all_of(value->uses.begin(), value->uses.end(), beside_codes);
    if (is_float(value->constant->dtype()) && !scale) {
      weights[fmt::format("{} weights", name(value->constant->dtype()))] +=
          static_cast<int64_t>(value->constant->bytes());
    }
  }
  for (const Node* node : all_nodes(*model.graph)) {
    const std::string format = node_format(*node, model.opset(node->domain));
    if (!format.empty()) ++nodes[format];
  }
  std::vector<std::string> formats;
  for (const auto* counts : {&nodes, &weights}) {
    std::vector<std::pair<std::string, int64_t>> sorted(counts->begin(), counts->end());
    std::stable_sort(sorted.begin(), sorted.end(), [](auto& a, auto& b) { return a.second > b.second; });
    for (auto& [format, count] : sorted) formats.push_back(format);
  }
  return formats;
}

}  // namespace mlopt::cli
