// op(float16 ...) -> Cast(op(Cast ...)): operators on float16 and bfloat16 run in float32. What one of them leaves for
// the next is not rounded in between.
#include <algorithm>
#include <unordered_map>
#include <utility>

#include "backends/cpu/prepare/prepare.h"
#include "core/base/text.h"
#include "core/tensor/cast.h"

namespace mlopt::cpu {
namespace {

/// Operators that take float32 wherever they take a narrower float, and give what they take.
bool widens(const Node& node) {
  static const std::vector<std::string> kOps = split(
      "Abs Add AveragePool BatchNormalization Ceil Clip Concat Conv ConvTranspose DepthToSpace Div Elu Erf "
      "Exp Expand Flatten Floor GRU Gather Gelu Gemm GlobalAveragePool GlobalMaxPool GroupNormalization "
      "HardSigmoid HardSwish InstanceNormalization LRN LSTM LayerNormalization LeakyRelu Log LogSoftmax "
      "MatMul Max MaxPool Min Mish Mul Neg PRelu Pad Pow RMSNormalization Reciprocal ReduceL1 ReduceL2 "
      "ReduceMax ReduceMean ReduceMin ReduceSum ReduceSumSquare Relu Reshape Resize Round Selu Sigmoid "
      "Slice Softmax Softplus Softsign SpaceToDepth Split Sqrt Squeeze Sub Sum Swish Tanh ThresholdedRelu "
      "Transpose Unsqueeze Upsample Where",
      ' ');
  // The gradients of other products are products of the standard.
  return node.is("ConvGradWeight", "mlopt") ||
         (node.domain.empty() && std::find(kOps.begin(), kOps.end(), node.op) != kOps.end());
}

bool is_half_type(DType type) { return type == DType::kF16 || type == DType::kBF16; }

bool is_half(const Value* v) { return v && v->type.is_tensor() && is_half_type(v->type.dtype); }

/// What is not known to be a half may be one, and then stays one.
bool is_known(const Value* v) { return !v || v->type.has_dtype(); }

/// Of the domain `mlopt`, types of outputs (kept_types()) are among them.
std::vector<Attr> widened(std::vector<Attr> attrs) {
  for (Attr& attr : attrs)
    if (Type* type = std::get_if<Type>(&attr.value); type && is_half_type(type->dtype)) type->dtype = DType::kF32;
  return attrs;
}

/// Nodes between two readers of a value, of which the second then has it widened again: half the memory meanwhile.
constexpr int64_t kFar = 16;

class Widening {
 public:
  explicit Widening(Graph& graph) : graph_(graph) {}

  /// Gives how many nodes were changed.
  int64_t run() {
    int64_t changed = 0;
    for (Node* node : graph_.nodes()) {
      ++place_;
      const auto &in = node->inputs(), &out = node->outputs();
      if (!widens(*node) || !std::any_of(in.begin(), in.end(), is_half)) continue;
      if (!std::all_of(in.begin(), in.end(), is_known) || !std::all_of(out.begin(), out.end(), is_known)) continue;
      widen(node);
      ++changed;
    }
    return changed;
  }

 private:
  void widen(Node* node) {
    std::vector<Value*> inputs, outputs;
    for (Value* v : node->inputs()) inputs.push_back(is_half(v) ? wide(v, node) : v);
    for (Value* y : node->outputs())
      outputs.push_back(y ? graph_.add_value(graph_.fresh_name(y->name + "_wide")) : nullptr);
    Node* replacement = graph_.add_node(node->domain, node->op, std::move(inputs), outputs, widened(node->attrs), node);
    replacement->name = node->name;
    replacement->origins = node->origins;
    for (size_t i = 0; i < outputs.size(); ++i) {
      Value* y = node->outputs()[i];
      if (!y) continue;
      outputs[i]->type = y->type;
      if (is_half(y)) outputs[i]->type.dtype = DType::kF32;
      graph_.replace_uses(y, is_half(y) ? narrow(outputs[i], y->type, node) : outputs[i]);
    }
    graph_.erase(node);
  }

  Value* cast_op(Value* v, const Type& type, const Node* before) {
    Value* y = graph_.add_op("Cast", {v}, {{"to", static_cast<int64_t>(type.dtype), ""}}, before, v->name + "_cast")
                   ->output(0);
    y->type = type;
    return y;
  }

  Value* narrow(Value* v, const Type& type, const Node* before) {
    Value* y = cast_op(v, type, before);
    exact_[y] = v;
    return y;
  }

  Value* wide(Value* v, const Node* before) {
    const auto exact = exact_.find(v);
    if (exact != exact_.end()) return exact->second;
    auto& [known, place] = wide_[v];
    const Tensor* constant = v->known_constant();
    if (!known || (!constant && place_ - place > kFar)) {
      Type type = v->type;
      type.dtype = DType::kF32;
      known =
          constant ? graph_.add_constant(v->name + "_wide", cast(*constant, DType::kF32)) : cast_op(v, type, before);
    }
    place = place_;
    return known;
  }

  Graph& graph_;
  int64_t place_ = 0;                                                  ///< of the node in the schedule
  std::unordered_map<const Value*, Value*> exact_;                     ///< of what is computed here, before rounding
  std::unordered_map<const Value*, std::pair<Value*, int64_t>> wide_;  ///< and where it was read last
};

void run(Model& model, const PassContext&, PassTally& tally) { tally.applied = Widening(*model.graph).run(); }

}  // namespace

const Pass widen_halves = {"widen_halves", "operators on float16 and bfloat16 in float32", nullptr, run};

}  // namespace mlopt::cpu
