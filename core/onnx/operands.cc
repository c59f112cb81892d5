#include "core/onnx/operands.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "core/base/error.h"

namespace mlopt {
namespace {

struct Operands {
  size_t count;          // how many at the start no node may omit
  std::string_view ops;  // of the standard's, each between spaces
};

/// Every operator that is not here has one operand at least.
constexpr std::array kOperands{
    Operands{0, " Constant Loop Optional OptionalHasElement RandomNormal RandomUniform Scan SequenceEmpty "},
    Operands{
        2,
        " Add AffineGrid And BitShift BitwiseAnd BitwiseOr BitwiseXor CastLike CausalConvWithState CenterCropPad "
        "Compress Conv ConvInteger ConvTranspose CumProd CumSum DequantizeLinear Div Equal Expand Gather "
        "GatherElements GatherND Gemm Greater GreaterOrEqual GridSample LayerNormalization Less LessOrEqual MatMul "
        "MatMulInteger MaxRoiPool MaxUnpool Mod Mul NegativeLogLikelihoodLoss NonMaxSuppression Or PRelu Pow "
        "QuantizeLinear RMSNormalization ReverseSequence STFT SequenceAt SequenceInsert SoftmaxCrossEntropyLoss "
        "StringConcat Sub SwiGLU TensorScatter Tile Xor "},
    Operands{
        3,
        " Attention Col2Im DeformConv GRU GroupNormalization InstanceNormalization LSTM LinearAttention OneHot RNN "
        "Range RoiAlign RotaryEmbedding Scatter ScatterElements ScatterND Where "},
    Operands{5, " BatchNormalization MelWeightMatrix "}, Operands{8, " QLinearConv QLinearMatMul "}};

struct Newer {
  std::string_view op;
  int64_t opset;
  size_t count;
};
/// What was an attribute before this opset.
constexpr std::array kNewer{Newer{"Pad", 11, 2},  Newer{"Reshape", 5, 2},    Newer{"Slice", 10, 3},
                            Newer{"TopK", 10, 2}, Newer{"Unsqueeze", 13, 2}, Newer{"Upsample", 9, 2}};

/// Operators of one operand and any number of further ones.
constexpr std::string_view kLists = " Concat Einsum Max Mean Min SequenceConstruct Sum ";

bool lists(std::string_view ops, const std::string& op) { return ops.find(" " + op + " ") != std::string_view::npos; }

void check_node(const Node& node, int64_t opset, const std::string& path) {
  const auto& inputs = node.inputs();
  const size_t required = lists(kLists, node.op) ? std::max<size_t>(inputs.size(), 1) : required_operands(node, opset);
  for (size_t i = 0; i < required; ++i)
    if (i >= inputs.size() || !inputs[i])
      input_error(fmt::format("input {} is missing", i), path.empty() ? node.label() : node.label() + " of " + path,
                  fmt::format("give every operand that {} requires", node.op));
}

void check_graph(const Graph& graph, int64_t opset, const std::string& path) {
  for (const Node* node : all_nodes(graph))
    if (node->domain.empty()) check_node(*node, opset, path);
}

}  // namespace

size_t required_operands(const Node& node, int64_t opset) {
  const auto newer = std::ranges::find(kNewer, node.op, &Newer::op);
  if (newer != kNewer.end()) return opset >= newer->opset ? newer->count : 1;
  for (const Operands& operands : kOperands)
    if (lists(operands.ops, node.op)) return operands.count;
  return 1;
}

void check_operands(const Model& model) {
  check_graph(*model.graph, model.opset(), model.path);
  for (const Function& function : model.functions) {
    const auto standard = std::ranges::find_if(
        function.opsets, [](const OpsetImport& import) { return import.domain.empty() || import.domain == "ai.onnx"; });
    if (standard != function.opsets.end()) check_graph(*function.body, standard->version, model.path);
  }
}

}  // namespace mlopt
