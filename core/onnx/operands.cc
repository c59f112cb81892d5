#include "core/onnx/operands.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "core/base/error.h"

namespace mlopt {
namespace {

constexpr size_t kAny = SIZE_MAX;

struct Operators {
  OperandCount count;
  std::string_view names;  // each between spaces
};

/// Operators that are not here have any number of operands.
constexpr std::array kOperators{
    Operators{{0, 0}, " Constant RandomNormal RandomUniform SequenceEmpty "},
    Operators{{0, 1}, " Optional OptionalHasElement "},
    Operators{{1, 1},
              " Abs Acos Acosh ArgMax ArgMin Asin Asinh Atan Atanh AveragePool Bernoulli BitCast BitwiseNot "
              "BlackmanWindow Cast Ceil Celu ConcatFromSequence ConstantOfShape Cos Cosh DepthToSpace Det "
              "DynamicQuantizeLinear Elu Erf Exp EyeLike Flatten Floor Gelu GlobalAveragePool GlobalLpPool "
              "GlobalMaxPool HammingWindow HannWindow HardSigmoid HardSwish Hardmax Identity If ImageDecoder IsInf "
              "IsNaN LRN LeakyRelu Log LogSoftmax LpNormalization LpPool MaxPool MeanVarianceNormalization Mish "
              "Multinomial Neg NonZero Not OptionalGetElement RandomNormalLike RandomUniformLike Reciprocal "
              "RegexFullMatch Relu Round Selu SequenceLength Shape Shrink Sigmoid Sign Sin Sinh Size Softmax Softplus "
              "Softsign SpaceToDepth Sqrt StringNormalizer StringSplit Swish Tan Tanh TfIdfVectorizer ThresholdedRelu "
              "Transpose Unique "},
    Operators{{1, 2},
              " ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum "
              "ReduceSumSquare SequenceErase Split SplitToSequence Squeeze Trilu "},
    Operators{{1, 3}, " Clip DFT Dropout "},
    Operators{{1, 4}, " Resize "},
    Operators{{1, kAny}, " SequenceMap "},
    Operators{{1, kAny, true}, " Concat Einsum Max Mean Min SequenceConstruct Sum "},
    Operators{{2, 2},
              " Add AffineGrid And BitShift BitwiseAnd BitwiseOr BitwiseXor CastLike CenterCropPad Compress CumProd "
              "CumSum Div Equal Expand Gather GatherElements GatherND Greater GreaterOrEqual GridSample Less "
              "LessOrEqual MatMul MaxRoiPool Mod Mul Or PRelu Pow RMSNormalization Reshape ReverseSequence SequenceAt "
              "StringConcat Sub SwiGLU Tile TopK Unsqueeze Upsample Xor "},
    Operators{{2, 3},
              " Conv ConvTranspose DequantizeLinear Gemm LayerNormalization MaxUnpool NegativeLogLikelihoodLoss "
              "QuantizeLinear SequenceInsert SoftmaxCrossEntropyLoss TensorScatter "},
    Operators{{2, 4}, " CausalConvWithState ConvInteger MatMulInteger Pad STFT "},
    Operators{{2, 5}, " NonMaxSuppression "},
    Operators{{3, 3},
              " Col2Im GroupNormalization InstanceNormalization OneHot Range RoiAlign Scatter ScatterElements "
              "ScatterND Where "},
    Operators{{3, 4}, " RotaryEmbedding "},
    Operators{{3, 5}, " DeformConv Slice "},
    Operators{{3, 6}, " GRU LinearAttention RNN "},
    Operators{{3, 7}, " Attention "},
    Operators{{3, 8}, " LSTM "},
    Operators{{5, 5}, " BatchNormalization MelWeightMatrix "},
    Operators{{8, 8}, " QLinearMatMul "},
    Operators{{8, 9}, " QLinearConv "}};

struct Older {
  int64_t opset;  // from which on the count is another
  OperandCount count;
  std::string_view names;
};
/// What was an attribute once, or could not be omitted. The first that holds counts.
constexpr std::array kOlder{
    Older{2, {1, 2}, " Split "},
    Older{5, {1, 1}, " Reshape "},
    Older{6, {3, 3}, " Tile "},
    Older{9, {1, 1}, " Upsample "},
    Older{10, {1, 1}, " Slice TopK "},
    Older{11, {1, 1}, " Clip Pad "},
    Older{11, {2, 2}, " Resize "},
    Older{11, {3, 3}, " Gemm "},
    Older{12, {1, 1}, " Dropout "},
    Older{13, {1, 1}, " ReduceSum Split Squeeze Unsqueeze "},
    Older{18,
          {1, 1},
          " OptionalHasElement ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin "
          "ReduceProd ReduceSumSquare "},
    Older{18, {2, 3}, " Pad "},
    Older{20, {1, 2}, " DFT "},
    Older{24, {3, 6}, " Attention "}};

void check_node(const Node& node, int64_t opset, const std::string& path) {
  const OperandCount count = operand_count(node, opset);
  const auto& inputs = node.inputs();
  const std::string where = path.empty() ? node.label() : node.label() + " of " + path;
  const size_t required = count.list ? std::max(inputs.size(), count.required) : count.required;
  for (size_t i = 0; i < required; ++i)
    if (i >= inputs.size() || !inputs[i])
      input_error(fmt::format("input {} is missing", i), where,
                  fmt::format("give every operand that {} requires", node.op));
  if (inputs.size() > count.most)
    input_error(fmt::format("{} has {} inputs, and takes {}", node.op, inputs.size(), count.most), where,
                "take out the others, or give the operator's own domain");
}

void check_graph(const Graph& graph, int64_t opset, const std::string& path) {
  for (const Node* node : all_nodes(graph))
    if (node->domain.empty()) check_node(*node, opset, path);
}

}  // namespace

OperandCount operand_count(const Node& node, int64_t opset) {
  const auto name = " " + node.op + " ";
  const auto lists = [&](const auto& operators) { return operators.names.find(name) != std::string_view::npos; };
  const auto older =
      std::ranges::find_if(kOlder, [&](const Older& operators) { return opset < operators.opset && lists(operators); });
  if (older != kOlder.end()) return older->count;
  const auto of = std::ranges::find_if(kOperators, [&](const Operators& operators) { return lists(operators); });
  return of == kOperators.end() ? OperandCount{0, kAny} : of->count;
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
