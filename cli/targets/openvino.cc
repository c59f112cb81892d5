#include <fmt/core.h>

#include <string_view>

#include "cli/targets/runtimes.h"

namespace mlopt::cli {
namespace {

constexpr std::string_view kStandard =
    "Abs Acos Acosh Add AffineGrid And ArgMax ArgMin Asin Asinh Atan Atanh Attention AveragePool BatchNormalization "
    "BitShift BitwiseAnd BitwiseNot BitwiseOr BitwiseXor BlackmanWindow Cast CastLike Ceil Celu CenterCropPad Clip "
    "Col2Im Compress Concat Constant ConstantOfShape Conv ConvInteger ConvTranspose Cos Cosh CumSum DFT DepthToSpace "
    "DequantizeLinear Div Dropout DynamicQuantizeLinear Einsum Elu Equal Erf Exp Expand EyeLike Flatten Floor GRU "
    "Gather "
    "GatherElements GatherND Gelu Gemm GlobalAveragePool GlobalLpPool GlobalMaxPool Greater GreaterOrEqual GridSample "
    "GroupNormalization HammingWindow HannWindow HardSigmoid HardSwish Hardmax Identity If InstanceNormalization IsInf "
    "IsNaN LRN LSTM LayerNormalization LeakyRelu Less LessOrEqual Log LogSoftmax Loop LpNormalization MatMul "
    "MatMulInteger Max MaxPool MaxRoiPool Mean MeanVarianceNormalization Min Mish Mod Mul Multinomial Neg "
    "NegativeLogLikelihoodLoss NonMaxSuppression NonZero Not OneHot Or PRelu Pad Pow QLinearConv QLinearMatMul "
    "QuantizeLinear RMSNormalization RNN RandomNormal RandomNormalLike RandomUniform RandomUniformLike Range "
    "Reciprocal "
    "ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum "
    "ReduceSumSquare Relu Reshape Resize ReverseSequence RoiAlign RotaryEmbedding Round STFT Scan Scatter "
    "ScatterElements ScatterND Selu Shape Shrink Sigmoid Sign SimplifiedLayerNormalization Sin Sinh Size Slice Softmax "
    "SoftmaxCrossEntropyLoss Softplus Softsign SpaceToDepth Split SplitToSequence Sqrt Squeeze Sub Sum Tan Tanh "
    "ThresholdedRelu Tile TopK Transpose Trilu Unique Unsqueeze Upsample Where Xor";

/// Run where what the sequence holds is known; elsewhere not.
constexpr std::string_view kSequences =
    "ConcatFromSequence SequenceAt SequenceConstruct SequenceEmpty SequenceErase SequenceInsert SequenceLength";

constexpr std::string_view kContrib =
    "Attention BiasAdd BiasGelu BifurcationDetector DequantizeLinear DynamicQuantizeMatMul EmbedLayerNormalization "
    "FastGelu FusedConv FusedGemm FusedMatMul GatherND Gelu GroupNorm GroupQueryAttention MatMulIntegerToFloat "
    "MatMulNBits Pad QLinearAdd QLinearAveragePool QLinearConcat QLinearLeakyRelu QLinearMul QLinearReduceMean "
    "QLinearSigmoid QLinearSoftmax QLinearWhere QuantizeLinear QuickGelu Range RotaryEmbedding "
    "SimplifiedLayerNormalization SkipLayerNormalization SkipSimplifiedLayerNormalization Trilu";

bool is_type(DType type) {
  return type != DType::kString && !is_complex(type) && type != DType::kF8E4M3FNUZ && type != DType::kF8E5M2FNUZ &&
         type != DType::kI2;
}

}  // namespace

std::string openvino_objection(const NodeView& view) {
  const Node& node = view.node();
  const bool standard = node.domain.empty();
  if (standard && lists(kSequences, node.op))
    return fmt::format("OpenVINO runs {} only where it can do without the sequence", node.op);
  const bool known = standard ? lists(kStandard, node.op) : node.domain == "com.microsoft" && lists(kContrib, node.op);
  if (!known) return fmt::format("OpenVINO does not run {}{}", standard ? "" : node.domain + ".", node.op);
  for (const auto* values : {&node.inputs(), &node.outputs()})
    for (const Value* value : *values)
      if (value && !is_type(value->type.dtype))
        return fmt::format("OpenVINO does not run {} on {}", node.op, name(value->type.dtype));
  return {};
}

}  // namespace mlopt::cli
