#include "quantize/restore/restore.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <limits>

#include "core/base/error.h"
#include "core/onnx/tools.h"
#include "core/rewrite/qdq/passes.h"
#include "graphopt/pipelines.h"
#include "quantize/restore/passes.h"

namespace mlopt::quantize {
namespace {

bool is_qonnx(const Node& node) { return (node.op == "Quant" || node.op == "BipolarQuant") && !node.domain.empty(); }

bool is_quantized(const Node& node) {
  return node.op.find("uantizeLinear") != std::string::npos || node.op.starts_with("QLinear") ||
         node.op.ends_with("Integer") || node.op.starts_with("MatMulNBits") || node.op.starts_with("MatMulBnb4") ||
         node.op.starts_with("DynamicQuantize") || node.op.starts_with("MatMulInteger") || is_qonnx(node) ||
         (node.domain == "com.microsoft" &&
          (node.op == "QGemm" || node.op == "QAttention" || node.op == "QEmbedLayerNormalization" ||
           node.op == "GatherBlockQuantized"));
}

int64_t count_quantized(const Model& model) {
  const std::vector<Node*> nodes = all_nodes(*model.graph);
  return std::count_if(nodes.begin(), nodes.end(), [](const Node* node) { return is_quantized(*node); });
}

/// Makes or reads codes that the model gives or takes.
bool is_border(const Node& node) {
  if (node.is("QuantizeLinear")) return node.output(0)->is_output();
  const Value* codes = node.input(0);
  return node.is("DequantizeLinear") && codes && codes->is_input;
}

void require_restored(const Model& model) {
  for (const Node* node : all_nodes(*model.graph))
    if (is_quantized(*node) && !is_border(*node))
      unsupported_error(fmt::format("{} cannot be read back to floats", node->label()), model.path,
                        "quantize the float model that it was made from");
}

/// What old files list as inputs with defaults is fixed where QONNX's operators read it: scales, zero points, widths.
void fix_operands(Graph& graph) {
  for (int i = static_cast<int>(graph.inputs().size()); i-- > 0;) {
    const Value* v = graph.inputs()[static_cast<size_t>(i)];
    const auto reads = [](const Use& use) { return is_qonnx(*use.node); };
    if (v->is_initializer() && std::any_of(v->uses.begin(), v->uses.end(), reads)) graph.remove_input(i);
  }
}

/// What QONNX's operators become is of a later opset than some of its files.
void prepare_qonnx(Model& model) {
  constexpr int64_t kOpset = 13;
  const std::vector<Node*> nodes = all_nodes(*model.graph);
  if (std::none_of(nodes.begin(), nodes.end(), [](const Node* n) { return is_qonnx(*n); })) return;
  if (model.opset() < kOpset) model = convert_opset(model, kOpset);
  fix_operands(*model.graph);
}

/// Is it made of constants, of bytes too, and by more than what moves or widens them?
bool is_put_together(const Value* weight) {
  bool computed = false, bytes = false;
  std::vector<const Value*> left{weight};
  for (size_t i = 0; i < left.size(); ++i) {
    const Value* v = left[i];
    if (!v) continue;
    const Node* node = v->known_constant() ? nullptr : v->producer;
    if (!node && !v->known_constant()) return false;
    bytes |= !node && v->constant->dtype() == DType::kU8;
    if (!node) continue;
    computed |= !node->is("Cast") && !node->is("Transpose") && !node->is("Reshape") && !node->is("Identity");
    for (const Value* input : node->inputs())
      if (std::find(left.begin(), left.end(), input) == left.end()) left.push_back(input);
  }
  return computed && bytes;
}

/// A layer whose weight standard operators look up in tables, or put together from planes of bits.
bool reads_codes(const Node& node) {
  static constexpr std::string_view kLayers[] = {"Conv", "ConvTranspose", "Gemm", "MatMul", "LSTM", "GRU", "RNN"};
  const bool is_layer = node.domain.empty() && std::ranges::count(kLayers, node.op) > 0;
  return is_layer && node.input(1) && node.input(1)->producer && is_put_together(node.input(1));
}

}  // namespace

const Node* first_quantized(const Model& model) {
  const std::vector<Node*> nodes = all_nodes(*model.graph);
  const auto it = std::find_if(nodes.begin(), nodes.end(),
                               [](const Node* node) { return is_quantized(*node) || reads_codes(*node); });
  return it == nodes.end() ? nullptr : *it;
}

int64_t restore_floats(Model& model, const PassContext& context) {
  const int64_t before = count_quantized(model);
  constexpr std::array<const Pass*, 6> kPasses = {&restore_qonnx,     &qdq::widen_blocks, &restore_layers,
                                                  &restore_operators, &restore_dynamic,   &restore_steps};
  prepare_qonnx(model);
  PassContext all = context;
  all.only.clear();
  all.skip.clear();
  // Weights may be put together by standard operators, from planes of bits and tables, and scales be copies of others.
  all.constant_limit = std::numeric_limits<int64_t>::max();
  // Weights that are still float stay so.
  graphopt::fuse(model, all, {{}, {"inputs_to_initializers", "fold_quantization"}});
  run_passes(model, kPasses, all);
  require_restored(model);
  return before - count_quantized(model);
}

}  // namespace mlopt::quantize
