#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "cli/targets/families.h"
#include "cli/targets/runtimes.h"
#include "core/onnx/tools.h"

namespace mlopt::cli {
namespace {

constexpr uint32_t kF32 = bit(DType::kF32), kI32 = bit(DType::kI32), kI64 = bit(DType::kI64), kI16 = bit(DType::kI16),
                   kU32 = bit(DType::kU32), kU64 = bit(DType::kU64), kBF16 = bit(DType::kBF16),
                   kBool = bit(DType::kBool), kString = bit(DType::kString);
constexpr uint32_t kReal = kF32 | bit(DType::kF64);
constexpr uint32_t kBytes = bit(DType::kI8) | bit(DType::kU8);
constexpr uint32_t kBasic = kReal | kI32 | kI64;
constexpr uint32_t kInts = kBytes | kI16 | bit(DType::kU16) | kI32 | kU32 | kI64 | kU64;
constexpr uint32_t kNumbers = kReal | kInts;
constexpr uint32_t kAll = kNumbers | kBF16 | kBool | kString;
constexpr uint32_t kFloat8 =
    bit(DType::kF8E4M3FN) | bit(DType::kF8E4M3FNUZ) | bit(DType::kF8E5M2) | bit(DType::kF8E5M2FNUZ);
constexpr uint32_t kInt4 = bit(DType::kI4) | bit(DType::kU4), kInt2 = bit(DType::kI2) | bit(DType::kU2);
constexpr uint32_t kEvery = ~uint32_t{0};

struct Family {
  int64_t since;   ///< opset
  uint32_t types;  ///< of the value that decides; float16 is taken where float32 is, between two Casts
  std::string_view operators;
};

/// What is registered for the CPU in ONNX Runtime 1.31, but for kernels that then refuse their type (GRU and LSTM of
/// float64); of several rows of an operator the last that is old enough.
constexpr Family kStandard[] = {
    {1, kReal | kBF16, "LayerNormalization SimplifiedLayerNormalization"},
    {1, kF32, "Affine Crop ImageScaler ParametricSoftplus Scale ScaledTanh"},
    {1, kAll, "DynamicSlice"},
    {1, kAll,
     "Flatten Gather Identity If Loop RandomNormalLike RandomUniformLike Reshape Shape Slice Squeeze "
     "Transpose Unsqueeze"},
    {1, kReal, "DepthToSpace LogSoftmax LpNormalization MatMul RandomNormal RandomUniform Softmax TopK"},
    {1, kBasic,
     "ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum "
     "ReduceSumSquare"},
    {1, kReal | kBytes, "SpaceToDepth"},
    {1, kBasic | kBytes, "ArgMax ArgMin"},
    {1, kF32, "Conv ConvTranspose GlobalAveragePool GlobalMaxPool Hardmax LRN MaxPool MaxRoiPool Softplus Softsign"},
    {1, kBool, "Not"},
    {1, kNumbers | kBool | kString, "Size"},
    {7, kAll, "Concat Split"},
    {7, kReal,
     "BatchNormalization Ceil Cos Dropout Exp Floor Gemm Greater Less Log Pad Pow Reciprocal Relu "
     "Sigmoid Sin Sqrt Sum Tanh"},
    {7, kNumbers, "Abs"},
    {7, kF32,
     "Acos Asin Atan AveragePool Clip Elu GRU GlobalLpPool HardSigmoid InstanceNormalization LSTM LeakyRelu LpPool "
     "Max Mean Min Multinomial PRelu RNN Selu Tan"},
    {7, kBool, "And Or Xor"},
    {7, kBasic | kBool, "Equal"},
    {7, kAll | kFloat8 | kInt4 | kInt2, "Cast"},
    {7, kBasic | kI16 | bit(DType::kI8), "Neg"},
    {7, kBasic | kU32 | kU64, "Add Div Mul Sub"},
    {7, kBytes | kF32 | kI32, "Upsample"},
    {7, kNumbers | kBool | kString, "Tile"},
    {8, kReal, "Max MaxPool Min"},
    {8, kI64, "Scan"},
    {8, kNumbers | kBool | kString, "Expand"},
    {9, kAll, "Compress Scan Scatter"},
    {9, kReal, "IsNaN"},
    {9, kNumbers, "Greater Less"},
    {9, kF32, "Acosh Asinh Atanh Cosh Erf MaxUnpool MeanVarianceNormalization Sinh"},
    {9, kBasic | kU64, "EyeLike"},
    {9, kNumbers | kBF16, "Shrink Sign"},
    {9, kBasic | kU32 | kU64, "MatMul"},
    {9, kNumbers | kBF16 | kBool, "ConstantOfShape"},
    {9, kBasic | kBytes | kString | kU32, "Where"},
    {9, kI32 | kI64 | kString, "TfIdfVectorizer"},
    {9, kF32 | kI32 | kI64 | kString, "OneHot"},
    {9, kBool | kF32 | kI32 | kI64 | bit(DType::kU8), "NonZero"},
    {10, 0, "Upsample"},
    {10, kAll, "ReverseSequence"},
    {10, kReal, "IsInf RoiAlign"},
    {10, kBytes, "ConvInteger MatMulInteger QLinearConv QLinearMatMul"},
    {10, kEvery, "NonMaxSuppression"},
    {10, kNumbers, "Mod"},
    {10, kF32, "QuantizeLinear ThresholdedRelu"},
    {10, kString, "StringNormalizer"},
    {10, kBytes | kI32, "DequantizeLinear"},
    {10, kBytes | kF32 | kI32, "Resize"},
    {11, 0, "Scatter"},
    {11, kAll, "GatherElements GatherND ScatterElements ScatterND SequenceConstruct"},
    {11, kReal, "Round"},
    {11, kBasic, "CumSum"},
    {11, kEvery,
     "ConcatFromSequence DynamicQuantizeLinear SequenceAt SequenceEmpty SequenceErase SequenceInsert "
     "SequenceLength"},
    {11, kReal | kBytes, "DepthToSpace"},
    {11, kF32, "Det"},
    {11, kBasic | kI16, "Range"},
    {11, kNumbers | kBool, "Equal"},
    {11, kBasic | kBytes | kI16, "TopK"},
    {11, kBasic | kBool | kString, "SplitToSequence"},
    {11, kU32 | kU64 | bit(DType::kU8), "BitShift"},
    {11, kBasic | kBytes | kU32 | kU64, "Pad"},
    {11, kReal | kI64 | bit(DType::kI8) | kString, "Unique"},
    {12, kReal, "Dropout"},
    {12, kBasic, "Einsum Pow"},
    {12, kNumbers, "GreaterOrEqual LessOrEqual"},
    {12, kReal | kBytes, "MaxPool"},
    {12, kBasic | kBytes, "ReduceMax ReduceMin"},
    {12, kF32, "Celu"},
    {12, kBasic | kBytes | kU32 | kU64, "Clip Max Min"},
    {13, kBasic | kBytes | kBool | kU32 | kU64, "Pad"},
    {14, kNumbers, "Add Div Mul Sub"},
    {14, kBasic | kBool, "Trilu"},
    {14, kReal | kI32 | bit(DType::kI8), "Relu"},
    {15, kAll, "Optional"},
    {15, kEvery, "OptionalGetElement OptionalHasElement"},
    {16, kF32, "GridSample"},
    {17, kReal, "DFT STFT"},
    {17, kReal | kBF16, "LayerNormalization"},
    {17, kI32 | kI64, "BlackmanWindow HammingWindow HannWindow MelWeightMatrix"},
    {18, kAll, "OptionalGetElement OptionalHasElement"},
    {18, kInts, "BitwiseAnd BitwiseNot BitwiseOr BitwiseXor"},
    {18, kF32, "Col2Im"},
    {19, kReal, "DeformConv"},
    {19, kAll | kFloat8, "Identity If Loop Scan"},
    {19, kF32, "QuantizeLinear"},
    {19, kBytes | kFloat8 | kI32, "DequantizeLinear"},
    {19, kNumbers | kBool | kString, "Equal"},
    {20, kReal, "AffineGrid GridSample"},
    {20, kF32, "Gelu"},
    {20, kString, "RegexFullMatch StringConcat StringSplit"},
    {20, kBasic | kBytes | kBool, "ReduceMax ReduceMin"},
    {20, kReal | kFloat8 | kBF16, "IsInf IsNaN"},
    {20, kNumbers | kFloat8 | kBF16 | kBool, "ConstantOfShape"},
    {21, kAll | kFloat8, "Reshape Shape"},
    {21, kAll | kFloat8 | kInt4, "Transpose"},
    {21, kBytes | kFloat8 | kInt4 | kI16 | kI32 | bit(DType::kU16), "DequantizeLinear"},
    {22, 0,
     "GlobalLpPool MaxRoiPool Multinomial RandomNormal RandomNormalLike RandomUniform RandomUniformLike "
     "RoiAlign"},
    {23, kReal, "RMSNormalization"},
    {23, kF32, "Attention RotaryEmbedding"},
    {24, kNumbers | kBF16 | kBool, "TensorScatter"},
    {24, kAll | kFloat8 | kInt4 | kInt2 | bit(DType::kF8E8M0), "Cast"},
    {25, 0, "Attention Swish"},
    {25, kAll | kFloat8 | kInt4 | kInt2, "Transpose"},
    {25, kBytes | kFloat8 | kInt4 | kInt2 | kI16 | kI32 | bit(DType::kU16), "DequantizeLinear"},
    {26, kNumbers | kBF16, "BitCast"},
    {26, kBasic | kU32 | kU64, "CumProd"},
};

constexpr std::string_view kContrib =
    "Attention AttnLSTM BeamSearch BiasGelu BifurcationDetector BranchwiseRMSNorm CDist "
    "CausalConvWithState ConvTransposeWithDynamicPads CropAndResize DecoderMaskedMultiHeadAttention "
    "DequantizeLinear DynamicQuantizeLSTM DynamicQuantizeMatMul DynamicTimeWarping "
    "EmbedLayerNormalization EngramGate ExpandDims FastGelu FusedConv FusedGemm FusedMatMul GatedAdd "
    "GatedRMSNorm GatherBlockQuantized GatherND Gelu GreedySearch GridSample GroupQueryAttention "
    "HyperConnectionPostMix HyperConnectionPreMix Inverse LinearAttention LinearAttentionGate "
    "MRotaryEmbedding MatMulBnb4 MatMulFpQ4 MatMulInteger16 MatMulIntegerToFloat MatMulNBits "
    "MaxpoolWithMask MoE MultiHeadAttention MurmurHash3 NGramHashMapping NGramRepeatBlock NhwcMaxPool Pad "
    "QAttention QEmbedLayerNormalization QGemm QLinearAdd QLinearAveragePool QLinearConcat QLinearConv "
    "QLinearGlobalAveragePool QLinearLeakyRelu QLinearMul QLinearSigmoid QLinearSoftmax QLinearWhere QMoE "
    "QuantizeLinear QuickGelu Range RotaryEmbedding SampleOp Sampling ScaledSiLU SkipLayerNormalization "
    "SkipSimplifiedLayerNormalization SparseAttention SparseToDenseMatMul Tokenizer TransposeMatMul Trilu "
    "UnfoldTensor Unique VarlenNGramHashMapping WhisperBeamSearch WordConvEmbedding";

const Family* family_of(std::string_view op, int64_t opset) {
  const Family* found = nullptr;
  for (const Family& family : kStandard)
    if (family.since <= opset && lists(family.operators, op)) found = &family;
  return found;
}

bool in_other_domain(const NodeView& view) {
  const Node& node = view.node();
  if (node.domain == "com.microsoft") return lists(kContrib, node.op);
  if (node.domain == "ai.onnx.ml") return known_operator(node.domain, node.op, view.opset());
  return lists("com.microsoft.nchwc com.ms.internal.nhwc", node.domain);  // of models that it optimized itself
}

bool takes(const Family& family, DType type) {
  if (type == DType::kUndefined) return true;
  return (family.types & bit(type == DType::kF16 ? DType::kF32 : type)) != 0;
}

/// Can ONNX Runtime take the operator apart, as the standard defines it? What that makes is of the same type, for
/// floats that few of its kernels take.
bool runs_as_function(const NodeView& view, DType type) {
  if (view.node().op == "Swish" && view.opset() >= 25) return false;  // a part is newer than what it is defined by
  const auto function = standard_function(view);
  if (!function) return false;
  if (!is_float(type) || type == DType::kF32 || type == DType::kF16) return true;
  const auto runs = [&](const Node* node) {
    const Family* family = family_of(node->op, view.opset());
    return lists("Cast Constant", node->op) || !family || takes(*family, type);
  };
  const std::vector<Node*> nodes = function->body->nodes();
  return std::all_of(nodes.begin(), nodes.end(), runs);
}

}  // namespace

std::string ort_objection(const NodeView& view) {
  constexpr int64_t kLast = 26;
  const Node& node = view.node();
  if (!node.domain.empty())
    return in_other_domain(view) ? "" : fmt::format("ONNX Runtime does not run {}.{} on the CPU", node.domain, node.op);
  if (view.opset() > kLast) return fmt::format("ONNX Runtime takes opsets to {}, this is {}", kLast, view.opset());
  if (lists("Constant SequenceMap", node.op)) return {};
  if (lists("GRU LSTM RNN", node.op) && view.get_int("layout", 0) != 0)
    return fmt::format("ONNX Runtime's {} takes the sequence as first axis only", node.op);
  const Family* family = family_of(node.op, view.opset());
  DType type = deciding_type(node);
  bool runs = family && takes(*family, type);
  if (runs && lists("Cast QuantizeLinear", node.op)) {  // gives what it, or its inverse, takes
    type = node.first_output()->type.dtype;
    runs = takes(*family_of(node.op == "Cast" ? "Cast" : "DequantizeLinear", view.opset()), type);
  }
  // Of an operator that has kernels, but none of this type, not all opsets' definitions are found.
  const bool has_kernels = family && family->types != 0;
  if (runs || (!has_kernels && runs_as_function(view, type))) return {};
  if (!has_kernels && (family || !standard_function(view)))
    return fmt::format("ONNX Runtime does not run {} of opset {}", node.op, view.opset());
  return fmt::format("ONNX Runtime does not run {} on {} in opset {}", node.op, name(type), view.opset());
}

}  // namespace mlopt::cli
