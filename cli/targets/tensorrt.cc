#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "cli/targets/families.h"
#include "cli/targets/runtimes.h"

namespace mlopt::cli {
namespace {

// float64 is taken too: it is computed as float32.
constexpr uint32_t kHalf = bit(DType::kF32) | bit(DType::kF16) | bit(DType::kF64);
constexpr uint32_t kFloat = kHalf | bit(DType::kBF16);
constexpr uint32_t kInt = bit(DType::kI32) | bit(DType::kI64);
constexpr uint32_t kBool = bit(DType::kBool);
constexpr uint32_t kNumber = kFloat | kInt;
constexpr uint32_t kAny = kNumber | kBool;
constexpr uint32_t kCodes = bit(DType::kI8) | bit(DType::kI4) | bit(DType::kF8E4M3FN) | bit(DType::kF4E2M1);
constexpr uint32_t kCast = kAny | bit(DType::kU8);

struct Family {
  uint32_t types;  ///< of the input that decides
  std::string_view operators;
};

constexpr Family kFamilies[] = {
    {kFloat,
     "Acos Acosh Asin Asinh Atan Atanh AveragePool BatchNormalization Ceil Celu Clip Conv ConvTranspose Cos Cosh "
     "CumSum Dropout Einsum Elu Erf Exp Floor GRU Gemm GlobalAveragePool GlobalLpPool GlobalMaxPool "
     "GroupNormalization HardSigmoid HardSwish Hardmax ImageScaler InstanceNormalization IsInf LRN LSTM "
     "LayerNormalization LeakyRelu Log LogSoftmax LpNormalization LpPool MatMul MaxPool MeanVarianceNormalization "
     "PRelu ParametricSoftplus QuantizeLinear RMSNormalization RNN RandomNormal RandomNormalLike RandomUniform "
     "RandomUniformLike Reciprocal Resize RotaryEmbedding Round ScaledTanh Scan Selu Sigmoid Sin Sinh Softmax Softplus "
     "Softsign Sqrt Tan Tanh ThresholdedRelu Upsample"},
    {kHalf, "BlackmanWindow DeformConv GridSample HammingWindow HannWindow Mish NonMaxSuppression NonZero RoiAlign"},
    {kNumber,
     "Abs Add ArgMax ArgMin DepthToSpace Div Equal Greater GreaterOrEqual IsNaN Less LessOrEqual Max Mean Min Mod Mul "
     "Neg Pad Pow Range ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd "
     "ReduceSum ReduceSumSquare Relu Scatter ScatterElements ScatterND Shrink Sign SpaceToDepth Sub Sum TensorScatter "
     "TopK"},
    {kAny,
     "Concat Expand EyeLike Flatten Gather GatherElements GatherND Identity If Loop OneHot Reshape ReverseSequence "
     "Shape Size Slice Split Squeeze Tile Transpose Trilu Unsqueeze Where"},
    {kBool, "And Not Or Xor"},
    {kCast, "Cast CastLike"},
    {kAny | kCodes, "Constant ConstantOfShape"},
    {kCodes, "DequantizeLinear"},
    {kFloat | bit(DType::kI8) | bit(DType::kF8E4M3FN), "Attention"},
    {kNumber | bit(DType::kI8), "Gelu"},
    {bit(DType::kF32), "STFT"},
};

size_t rank_of(const Value* value) { return value && value->type.dims ? value->type.dims->size() : 0; }

bool all_zero(const Tensor& tensor) {
  const auto bytes = tensor.raw_bytes();
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0}; });
}

std::string pool_limit(const NodeView& view) {
  const size_t rank = rank_of(view.node().input(0));
  if (rank != 0 && rank != 4 && rank != 5) return "pools over two or three axes only";
  const std::vector<int64_t> dilations = view.get_ints("dilations");
  if (std::any_of(dilations.begin(), dilations.end(), [](int64_t d) { return d != 1; }))
    return "pools without gaps only";
  if (view.node().op == "MaxPool" && view.node().output(1)) return "gives no indices of maxima";
  return {};
}

std::string codes_limit(const NodeView& view) {
  if (!view.node().input(2)) return {};
  const Tensor* zero = view.constant(2);
  return zero && all_zero(*zero) ? "" : "takes zero points of zero only";
}

std::string attention_limit(const NodeView& view) {
  const size_t rank = rank_of(view.node().input(0));
  if (rank != 0 && rank != 4) return "takes queries, keys and values of four axes";
  if (view.node().input(4) || view.node().input(5) || view.node().input(6)) return "takes no past keys and values";
  if (view.node().outputs().size() > 1) return "gives its first output only";
  return view.get_float("softcap", 0) == 0 ? "" : "has no softcap";
}

std::string resize_limit(const NodeView& view) {
  if (view.get_string("mode", "nearest") == "cubic") return "does not resize by cubic curves";
  if (view.get_int("antialias", 0) != 0) return "does not resize with antialiasing";
  return view.get_string("coordinate_transformation_mode", "half_pixel") == "tf_crop_and_resize"
             ? "does not crop while it resizes"
             : "";
}

std::string one_output(const NodeView& view) {
  return view.node().outputs().size() > 1 ? "gives its first output only" : "";
}

std::string lstm_limit(const NodeView& view) {
  if (view.get_int("input_forget", 0) != 0) return "has no input_forget";
  return view.get_int("layout", 0) == 0 ? "" : "takes the sequence as first axis only";
}

std::string scatter_limit(const NodeView& view) {
  return view.get_string("reduction", "none") == "none" ? "" : "has no reduction";
}

std::string top_k_limit(const NodeView& view) {
  if (view.get_int("sorted", 1) != 1) return "sorts always";
  const auto k = view.ints("k", 1, {0});
  return k && k->size() == 1 && k->front() >= 3840 ? "takes fewer than 3840" : "";
}

struct Limit {
  std::string_view operators;
  std::string (*objection)(const NodeView&);
};

constexpr Limit kLimits[] = {
    {"AveragePool LpPool MaxPool", pool_limit},
    {"DequantizeLinear QuantizeLinear", codes_limit},
    {"Attention", attention_limit},
    {"Resize", resize_limit},
    {"LayerNormalization", one_output},
    {"LSTM", lstm_limit},
    {"ScatterND", scatter_limit},
    {"TopK", top_k_limit},
};

}  // namespace

std::string tensorrt_objection(const NodeView& view) {
  constexpr int64_t kFirst = 9, kLast = 24;
  const Node& node = view.node();
  if (!node.domain.empty()) return fmt::format("TensorRT does not run {}.{}", node.domain, node.op);
  if (view.opset() < kFirst || view.opset() > kLast)
    return fmt::format("TensorRT takes opsets {} to {}, this is {}", kFirst, kLast, view.opset());
  const auto family = std::find_if(std::begin(kFamilies), std::end(kFamilies),
                                   [&](const Family& f) { return lists(f.operators, node.op); });
  if (family == std::end(kFamilies)) return "TensorRT does not run " + node.op;
  const DType type = deciding_type(node);
  if (type != DType::kUndefined && !(family->types & bit(type)))
    return fmt::format("TensorRT does not run {} on {}", node.op, name(type));
  for (const Limit& limit : kLimits) {
    if (!lists(limit.operators, node.op)) continue;
    if (const std::string why = limit.objection(view); !why.empty())
      return fmt::format("TensorRT's {} {}", node.op, why);
  }
  return {};
}

}  // namespace mlopt::cli
