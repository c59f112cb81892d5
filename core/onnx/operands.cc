#include "core/onnx/operands.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <unordered_map>

#include "core/base/error.h"

namespace mlopt {
namespace {

constexpr size_t kAny = SIZE_MAX;
constexpr int64_t kEveryOpset = INT64_MAX;

struct Operators {
  OperandCount count;
  std::string_view names;        // each between spaces
  int64_t before = kEveryOpset;  // the opset from which on the count is another
};

/// The first that holds counts; at the front what was an attribute once, or could not be omitted. Operators that are
/// not here have any number of operands.
constexpr std::array kOperators{
    Operators{{1, 2}, " Split ", 2},
    Operators{{1, 1}, " Reshape ", 5},
    Operators{{3, 3}, " Tile ", 6},
    Operators{{1, 1}, " Upsample ", 9},
    Operators{{1, 1}, " Slice TopK ", 10},
    Operators{{1, 1}, " Clip Pad ", 11},
    Operators{{2, 2}, " Resize ", 11},
    Operators{{3, 3}, " Gemm ", 11},
    Operators{{1, 1}, " Dropout ", 12},
    Operators{{1, 1}, " ReduceSum Split Squeeze Unsqueeze ", 13},
    Operators{{1, 1},
              " OptionalHasElement ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin "
              "ReduceProd ReduceSumSquare ",
              18},
    Operators{{2, 3}, " Pad ", 18},
    Operators{{1, 2}, " DFT ", 20},
    Operators{{3, 6}, " Attention ", 24},
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

std::string where(const Node& node, const std::string& path) {
  return path.empty() ? node.label() : node.label() + " of " + path;
}

void check_node(const Node& node, const OperandCount& count, const std::string& path) {
  const auto& inputs = node.inputs();
  const size_t required = count.list ? std::max(inputs.size(), count.required) : count.required;
  for (size_t i = 0; i < required; ++i)
    if (i >= inputs.size() || !inputs[i])
      input_error(fmt::format("input {} is missing", i), where(node, path),
                  fmt::format("give every operand that {} requires", node.op));
  if (inputs.size() > count.most)
    input_error(fmt::format("{} has {} inputs, and takes {}", node.op, inputs.size(), count.most), where(node, path),
                "take out the others, or give the operator's own domain");
}

void check_graph(const Graph& graph, int64_t opset, const std::string& path) {
  std::unordered_map<std::string_view, OperandCount> known;
  for (const Node* node : all_nodes(graph)) {
    if (!node->domain.empty()) continue;
    const auto [count, fresh] = known.try_emplace(node->op);
    if (fresh) count->second = operand_count(*node, opset);
    check_node(*node, count->second, path);
  }
}

/// By domain, name and overload.
using Functions = std::map<std::tuple<std::string_view, std::string_view, std::string_view>, const Function*>;

void check_calls(const Graph& graph, const Functions& functions, const std::string& path) {
  if (functions.empty()) return;
  for (const Node* node : all_nodes(graph)) {
    const auto called = functions.find({node->domain, node->op, node->overload});
    if (called == functions.end()) continue;
    const Graph& body = *called->second->body;
    if (node->inputs().size() > body.inputs().size() || node->outputs().size() > body.outputs().size())
      input_error(fmt::format("more inputs or outputs than function '{}' has", node->op), where(*node, path),
                  "take out the others, or call another function");
  }
}

}  // namespace

OperandCount operand_count(const Node& node, int64_t opset) {
  const auto name = " " + node.op + " ";
  const auto of = std::ranges::find_if(kOperators, [&](const Operators& operators) {
    return opset < operators.before && operators.names.find(name) != std::string_view::npos;
  });
  return of == kOperators.end() ? OperandCount{0, kAny} : of->count;
}

void check_operands(const Model& model) {
  Functions functions;
  for (const Function& f : model.functions)
    functions[{f.domain == "ai.onnx" ? std::string_view() : f.domain, f.name, f.overload}] = &f;
  check_graph(*model.graph, model.opset(), model.path);
  check_calls(*model.graph, functions, model.path);
  for (const Function& function : model.functions) {
    check_graph(*function.body, opset_in(function.opsets), model.path);
    check_calls(*function.body, functions, model.path);
  }
}

}  // namespace mlopt
