#include "prune/structure/rules.h"

#include <algorithm>

namespace mlopt::prune {
namespace {

using Ops = std::string_view[];

constexpr Ops kUnary = {"Abs",
                        "Acos",
                        "Acosh",
                        "Affine",
                        "Asin",
                        "Asinh",
                        "Atan",
                        "Atanh",
                        "BitwiseNot",
                        "Cast",
                        "Ceil",
                        "Celu",
                        "Clip",
                        "Cos",
                        "Cosh",
                        "Dropout",
                        "Elu",
                        "Erf",
                        "Exp",
                        "Floor",
                        "Gelu",
                        "HardSigmoid",
                        "HardSwish",
                        "Identity",
                        "IsInf",
                        "IsNaN",
                        "LeakyRelu",
                        "Log",
                        "Mish",
                        "Neg",
                        "Not",
                        "ParametricSoftplus",
                        "Reciprocal",
                        "Relu",
                        "Round",
                        "ScaledTanh",
                        "Selu",
                        "Shrink",
                        "Sigmoid",
                        "Sign",
                        "Sin",
                        "Sinh",
                        "Softplus",
                        "Softsign",
                        "Sqrt",
                        "Swish",
                        "Tan",
                        "Tanh",
                        "ThresholdedRelu"};
constexpr Ops kMicrosoftUnary = {"Gelu", "QuickGelu"};
constexpr Ops kBroadcast = {"Add",        "And",         "BitShift", "BitwiseAnd", "BitwiseOr",
                            "BitwiseXor", "Div",         "Equal",    "Greater",    "GreaterOrEqual",
                            "Less",       "LessOrEqual", "Max",      "Mean",       "Min",
                            "Mod",        "Mul",         "Or",       "PRelu",      "Pow",
                            "Sub",        "Sum",         "Where",    "Xor"};
constexpr Ops kMicrosoftBroadcast = {"BiasGelu", "FastGelu"};
constexpr Ops kConv = {"Conv"}, kFusedConv = {"FusedConv"}, kConvTranspose = {"ConvTranspose"};
constexpr Ops kMatMul = {"MatMul"}, kGemm = {"Gemm"}, kEinsum = {"Einsum"};
constexpr Ops kBatchNorm = {"BatchNormalization"}, kInstanceNorm = {"InstanceNormalization"};
constexpr Ops kGroupNorm = {"GroupNormalization"};
constexpr Ops kLayerNorm = {"LayerNormalization", "RMSNormalization", "SimplifiedLayerNormalization"};
constexpr Ops kSkipNorm = {"SkipLayerNormalization", "SkipSimplifiedLayerNormalization"};
constexpr Ops kAttention = {"Attention"}, kMultiHead = {"MultiHeadAttention"}, kGroupQuery = {"GroupQueryAttention"};
constexpr Ops kRotary = {"RotaryEmbedding"};
constexpr Ops kSoftmax = {"Softmax", "LogSoftmax", "Hardmax", "LpNormalization"}, kAcross = {"LRN"};
constexpr Ops kPool = {"MaxPool",       "AveragePool",  "LpPool", "GlobalAveragePool",
                       "GlobalMaxPool", "GlobalLpPool", "Crop"};
constexpr Ops kResize = {"Resize", "Upsample"};
constexpr Ops kReshape = {"Reshape"}, kFlatten = {"Flatten"}, kSqueeze = {"Squeeze"}, kUnsqueeze = {"Unsqueeze"};
constexpr Ops kTranspose = {"Transpose"}, kExpand = {"Expand"}, kTile = {"Tile"},
              kReverseSequence = {"ReverseSequence"}, kConstantOfShape = {"ConstantOfShape"};
constexpr Ops kDepthToSpace = {"DepthToSpace"}, kSpaceToDepth = {"SpaceToDepth"};
constexpr Ops kConcat = {"Concat"}, kSplit = {"Split"}, kSlice = {"Slice"}, kGather = {"Gather"}, kPad = {"Pad"};
constexpr Ops kGatherND = {"GatherND"};
constexpr Ops kReduceSum = {"ReduceSum", "ReduceL1", "ReduceL2", "ReduceSumSquare"};
constexpr Ops kReduce = {"ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceLogSum", "ReduceLogSumExp"};
constexpr Ops kArg = {"ArgMax", "ArgMin"}, kTopK = {"TopK"};
constexpr Ops kRecurrent = {"LSTM", "GRU", "RNN"};
constexpr Ops kQuantization = {"QuantizeLinear", "DequantizeLinear"};
constexpr Ops kShape = {"Shape", "Size"};

constexpr AxisRule kRules[] = {
    {"", kUnary, rules::unary},
    {"com.microsoft", kMicrosoftUnary, rules::unary},
    {"", kBroadcast, rules::broadcast},
    {"com.microsoft", kMicrosoftBroadcast, rules::broadcast},
    {"", kConv, rules::convolution, rules::rewrite_convolution},
    {"com.microsoft", kFusedConv, rules::convolution, rules::rewrite_convolution},
    {"", kConvTranspose, rules::transposed_convolution, rules::rewrite_transposed_convolution},
    {"", kMatMul, rules::matmul},
    {"", kGemm, rules::gemm},
    {"", kEinsum, rules::einsum},
    {"", kBatchNorm, rules::batch_normalization},
    {"", kInstanceNorm, rules::instance_normalization},
    {"", kGroupNorm, rules::group_normalization, rules::rewrite_group_normalization},
    {"", kLayerNorm, rules::layer_normalization},
    {"com.microsoft", kLayerNorm, rules::layer_normalization},
    {"com.microsoft", kSkipNorm, rules::skip_normalization},
    {"", kAttention, rules::attention, rules::rewrite_attention},
    {"com.microsoft", kAttention, rules::packed_attention, rules::rewrite_packed_attention},
    {"com.microsoft", kMultiHead, rules::multi_head_attention, rules::rewrite_multi_head_attention},
    {"com.microsoft", kGroupQuery, rules::group_query_attention, rules::rewrite_group_query_attention},
    {"", kRotary, rules::rotary_embedding, rules::rewrite_rotary_embedding},
    {"com.microsoft", kRotary, rules::rotary_embedding, rules::rewrite_rotary_embedding},
    {"", kSoftmax, rules::softmax},
    {"", kAcross, rules::over_channels},
    {"", kPool, rules::pool},
    {"", kResize, rules::resize, rules::rewrite_resize},
    {"", kReshape, rules::reshape, rules::rewrite_reshape},
    {"", kFlatten, rules::flatten},
    {"", kSqueeze, rules::squeeze},
    {"", kUnsqueeze, rules::unsqueeze},
    {"", kTranspose, rules::transpose},
    {"", kExpand, rules::expand, rules::rewrite_expand},
    {"", kTile, rules::tile},
    {"", kReverseSequence, rules::reverse_sequence},
    {"", kConstantOfShape, rules::constant_of_shape, rules::rewrite_constant_of_shape},
    {"", kDepthToSpace, rules::depth_to_space},
    {"", kSpaceToDepth, rules::space_to_depth},
    {"", kConcat, rules::concat},
    {"", kSplit, rules::split, rules::rewrite_split},
    {"", kSlice, rules::slice, rules::rewrite_slice},
    {"", kGather, rules::gather, rules::rewrite_gather},
    {"", kGatherND, rules::gather_nd},
    {"", kPad, rules::pad},
    {"", kReduceSum, rules::reduce_sum},
    {"", kReduce, rules::reduce},
    {"", kArg, rules::arg_extreme},
    {"", kTopK, rules::top_k},
    {"", kRecurrent, rules::recurrent, rules::rewrite_recurrent},
    {"", kQuantization, rules::quantization},
    {"", kShape, rules::shape},
};

}  // namespace

const AxisRule* rule_of(const Node& node) {
  const std::string_view domain = node.domain == "ai.onnx" ? std::string_view() : std::string_view(node.domain);
  for (const AxisRule& rule : kRules)
    if (rule.domain == domain && std::find(rule.ops.begin(), rule.ops.end(), node.op) != rule.ops.end()) return &rule;
  return nullptr;
}

}  // namespace mlopt::prune
