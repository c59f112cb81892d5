#include "core/exec/samples.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>

#include "core/exec/inferred.h"
#include "core/ir/constant.h"
#include "core/ir/resize_plan.h"
#include "core/ir/view.h"

namespace mlopt {
namespace {

/// What a value has to do with the samples: it is the same for all, it holds them along axis 0 (equally many rows for
/// each), it follows from how many there are, or that is not known.
enum class Kind { kSame, kSamples, kCount, kUnknown };

/// One node whose inputs are classified.
class Judge {
 public:
  Judge(const NodeView& view, std::vector<Kind> kinds, int64_t count)
      : view_(view), node_(view.node()), kinds_(std::move(kinds)), count_(count) {
    for (const Value* v : node_.inputs()) in_.push_back(v ? dims_of(*v) : std::nullopt);
    if (node_.output(0)) out_ = dims_of(*node_.output(0));
  }

  static std::optional<Dims> dims_of(const Value& v) {
    return v.constant ? std::optional(v.constant->dims()) : v.type.static_dims();
  }

  /// Of all outputs.
  Kind kind() const {
    if (!node_.bodies().empty() || is_random(node_) || any(Kind::kUnknown)) return Kind::kUnknown;
    if (!any(Kind::kSamples) && !any(Kind::kCount)) return Kind::kSame;
    if (node_.is("Shape") || node_.is("Size")) return Kind::kCount;
    if (any(Kind::kCount)) return of_count();
    return keeps_apart() ? Kind::kSamples : Kind::kUnknown;
  }

 private:
  struct Rule {
    std::string_view ops;  ///< of any domain, between spaces
    bool (Judge::*holds)() const;
  };

  bool any(Kind kind) const { return std::find(kinds_.begin(), kinds_.end(), kind) != kinds_.end(); }
  Kind kind_of(size_t i) const { return i < kinds_.size() ? kinds_[i] : Kind::kSame; }
  bool holds(size_t i) const { return kind_of(i) == Kind::kSamples; }
  size_t rank(size_t i) const { return in_[i]->size(); }

  static bool is_one_of(std::string_view op, std::string_view list) {
    for (size_t at = list.find(op); at != std::string_view::npos; at = list.find(op, at + 1)) {
      const bool begins = at == 0 || list[at - 1] == ' ',
                 ends = at + op.size() == list.size() || list[at + op.size()] == ' ';
      if (begins && ends) return true;
    }
    return false;
  }

  /// Sizes go into sizes, and into what takes its shape from them.
  Kind of_count() const {
    if (!any(Kind::kSamples) &&
        is_one_of(node_.op, "Gather Slice Concat Unsqueeze Squeeze Cast Identity Add Sub Mul Div"))
      return Kind::kCount;
    const bool only_shape = kind_of(0) != Kind::kCount && kind_of(1) == Kind::kCount && kinds_.size() == 2;
    if (node_.is("Reshape") && only_shape && holds(0) && reshapes()) return Kind::kSamples;
    if (node_.is("ConstantOfShape")) return begins_with_count() ? Kind::kSamples : Kind::kUnknown;
    if (!node_.is("Expand") || !only_shape || !begins_with_count()) return Kind::kUnknown;
    const bool repeats = !holds(0) && (rank(0) < out_->size() || (*in_[0])[0] == 1);
    return repeats || (holds(0) && same_rows(0)) ? Kind::kSamples : Kind::kUnknown;
  }

  bool begins_with_count() const { return out_ && !out_->empty() && (*out_)[0] == count_; }
  /// Input i has as many axes as the output, and as many rows.
  bool same_rows(size_t i) const {
    return out_ && !in_[i]->empty() && rank(i) == out_->size() && (*in_[i])[0] == (*out_)[0];
  }
  /// Input i is repeated along axis 0 of the output.
  bool repeated(size_t i) const { return rank(i) < out_->size() || (*in_[i])[0] == 1; }
  /// The samples are in these inputs and nowhere else, all of them row for row as in the output.
  bool rows_of(std::initializer_list<size_t> inputs) const {
    for (size_t i = 0; i < kinds_.size(); ++i) {
      const bool listed = std::find(inputs.begin(), inputs.end(), i) != inputs.end();
      if (holds(i) && (!listed || !same_rows(i))) return false;
    }
    return holds(*inputs.begin());
  }

  bool keeps_apart() const {
    if (!out_ || out_->empty() || (*out_)[0] % count_ != 0) return false;
    for (size_t i = 0; i < in_.size(); ++i)
      if (node_.inputs()[i] && !in_[i]) return false;
    for (const Rule& rule : rules())
      if (is_one_of(node_.op, rule.ops)) return (this->*rule.holds)();
    return false;
  }

  static std::span<const Rule> rules() {
    static constexpr Rule kRules[] = {
        {"Abs Acos Acosh Asin Asinh Atan Atanh Cast Ceil Clip Cos Cosh Elu Erf Exp Floor Gelu HardSigmoid",
         &Judge::by_element},
        {"HardSwish Identity IsInf IsNaN LeakyRelu Log Mish Neg Not Reciprocal Relu Round Selu Sigmoid",
         &Judge::by_element},
        {"Sign Sin Sinh Softplus Softsign Sqrt Swish Tan Tanh ThresholdedRelu", &Judge::by_element},
        {"Add And BitShift Chain Div Equal Greater GreaterOrEqual Less LessOrEqual Max Min Mod Mul Or PRelu",
         &Judge::by_element},
        {"Pow Sub Sum Where Xor", &Judge::by_element},
        {"Conv ConvTranspose ConvInteger QLinearConv AveragePool GlobalAveragePool GlobalMaxPool MaxPool",
         &Judge::first_only},
        {"LpPool GlobalLpPool LRN InstanceNormalization GroupNormalization DepthToSpace SpaceToDepth",
         &Judge::first_only},
        {"QLinearAveragePool QLinearGlobalAveragePool QLinearSigmoid QLinearLeakyRelu", &Judge::first_only},
        {"BatchNormalization", &Judge::normalizes},
        {"FusedConv", &Judge::fused_conv},
        {"QLinearConvAdd", &Judge::conv_add},
        {"QuantizeLinear DequantizeLinear", &Judge::quantizes},
        {"QLinearAdd QLinearMul", &Judge::pairs_of_integers},
        {"Softmax LogSoftmax LayerNormalization RMSNormalization Split", &Judge::along_axis},
        {"Concat", &Judge::joins},
        {"ReduceMean ReduceSum ReduceMax ReduceMin ReduceL2 ReduceProd ReduceSumSquare", &Judge::reduces},
        {"MatMul MatMulAdd MatMulNBits MatMulBnb4 Gemm FusedMatMul FusedGemm", &Judge::multiplies},
        {"QLinearMatMul MatMulInteger MatMulIntegerToFloat QGemm", &Judge::multiplies},
        {"Attention", &Judge::attends},
        {"Transpose", &Judge::transposes},
        {"Reshape", &Judge::reshapes_fixed},
        {"Flatten", &Judge::flattens},
        {"Squeeze Unsqueeze", &Judge::keeps_rows},
        {"Slice", &Judge::slices},
        {"Gather", &Judge::gathers},
        {"Pad", &Judge::pads},
        {"Resize Upsample", &Judge::resizes},
    };
    return kRules;
  }

  bool normalizes() const { return first_only() && view_.opset() >= 7 && view_.get_int("training_mode", 0) == 0; }
  bool by_element() const {
    for (size_t i = 0; i < in_.size(); ++i)
      if (in_[i] && !(holds(i) ? same_rows(i) : repeated(i))) return false;
    return true;
  }
  bool first_only() const { return node_.outputs().size() == 1 && rows_of({0}); }
  bool fused_conv() const { return rows_of({0, 3}); }
  bool conv_add() const { return rows_of({0, 9}); }
  bool quantizes() const { return rows_of({0}) && (rank(1) == 0 || (rank(1) == 1 && axis(1) != 0)); }
  bool resizes() const {
    if (!rows_of({0}) || (in_.size() > 3 && in_[3])) return false;
    const auto plan = resize_plan(view_, *in_[0]);
    if (!plan) return false;
    return std::none_of(plan->filters.begin(), plan->filters.end(), [](const ResizeFilter& f) { return f.axis == 0; });
  }
  bool pairs_of_integers() const {
    return holds(0) && same_rows(0) && (holds(3) ? same_rows(3) : repeated(3)) && rows_of({0, 3});
  }

  /// The attribute, counted from the front.
  int64_t axis(int64_t otherwise) const {
    const int64_t given = view_.get_int("axis", otherwise);
    return given < 0 ? given + static_cast<int64_t>(rank(0)) : given;
  }
  bool along_axis() const {
    const bool first = node_.op == "Split";
    const bool last = view_.opset() >= 13 || is_one_of(node_.op, "LayerNormalization RMSNormalization");
    return rows_of({0}) && axis(first ? 0 : last ? -1 : 1) > 0;
  }
  bool joins() const {
    for (size_t i = 0; i < in_.size(); ++i)
      if (!holds(i) || !same_rows(i)) return false;
    return axis(0) > 0;
  }
  bool reduces() const {
    const auto axes = view_.ints("axes", 1);
    if (!axes || axes->empty() || !holds(0) || out_->empty()) return false;
    const auto size = static_cast<int64_t>(rank(0));
    const bool first = std::any_of(axes->begin(), axes->end(), [&](int64_t a) { return a == 0 || a + size == 0; });
    return !first && (*out_)[0] == (*in_[0])[0];
  }
  bool multiplies() const {
    if (!holds(0) || !same_rows(0) || rank(0) < 2) return false;
    for (const char* turned : {"transA", "transBatchA", "transBatchB"})
      if (view_.get_int(turned, 0) != 0) return false;
    const size_t right = is_one_of(node_.op, "QLinearMatMul QGemm") ? 3 : 1;
    if (holds(right) && (node_.op != "MatMul" || rank(0) < 3 || !same_rows(right))) return false;
    if (!holds(right) && rank(0) > 2 && !repeated(right)) return false;
    for (size_t i = 1; i < in_.size(); ++i)
      if (i != right && in_[i] && !(holds(i) ? same_rows(i) : repeated(i) && !is_for_rows(i))) return false;
    return true;
  }
  /// A list that may have an entry for each row.
  bool is_for_rows(size_t i) const {
    return is_one_of(node_.op, "QLinearMatMul MatMulInteger MatMulIntegerToFloat QGemm") && rank(i) > 0 &&
           (*in_[i])[0] != 1 && (*in_[i])[0] == (*out_)[0];
  }
  bool attends() const {
    if (in_.size() > 4 || node_.outputs().size() != 1 || rank(0) != 4) return false;
    for (size_t i = 0; i < 3; ++i)
      if (!holds(i) || !same_rows(i)) return false;
    return in_.size() < 4 || !in_[3] || (holds(3) ? rank(3) == 4 && same_rows(3) : repeated(3));
  }
  bool transposes() const {
    const auto perm = view_.get_ints("perm");
    return !perm.empty() && perm[0] == 0;
  }
  /// The rows of a sample stay together as long as its numbers do.
  bool reshapes() const { return in_[0] && !in_[0]->empty() && out_ && !out_->empty() && (*out_)[0] % count_ == 0; }
  /// The shape says nothing of how many samples there are.
  bool reshapes_fixed() const {
    const auto shape = view_.ints("shape", 1);
    if (!shape || shape->empty() || !reshapes()) return false;
    return (*shape)[0] == -1 || ((*shape)[0] == 0 && view_.get_int("allowzero", 0) == 0);
  }
  bool flattens() const { return axis(1) > 0 && reshapes(); }
  bool keeps_rows() const { return rows_are(0) && kind_of(1) == Kind::kSame; }
  bool rows_are(size_t i) const { return holds(i) && !in_[i]->empty() && (*in_[i])[0] == (*out_)[0]; }
  bool slices() const {
    if (!rows_of({0})) return false;
    const Tensor* given = view_.constant(3);
    if (view_.opset() >= 10 && !given) return false;
    const auto axes = view_.ints("axes", 3);
    return axes && !axes->empty() && std::all_of(axes->begin(), axes->end(), [&](int64_t a) {
             return a > 0 || (a < 0 && a + static_cast<int64_t>(rank(0)) > 0);
           });
  }
  bool gathers() const {
    if (holds(0)) return !holds(1) && axis(0) > 0 && rows_are(0);
    return axis(0) == 0 && rows_are(1);
  }
  bool pads() const {
    const auto pads = view_.ints("pads", 1);
    return rows_of({0}) && in_.size() < 4 && pads && pads->size() == 2 * rank(0) && (*pads)[0] == 0 &&
           (*pads)[rank(0)] == 0;
  }

  NodeView view_;
  const Node& node_;
  std::vector<Kind> kinds_;
  int64_t count_;
  std::vector<std::optional<Dims>> in_;
  std::optional<Dims> out_;
};

/// Of every value that is known.
using Kinds = std::unordered_map<const Value*, Kind>;

Kind kind_of(const Value* v, const Kinds& kinds) {
  if (!v || (v->constant && !v->producer)) return Kind::kSame;
  const auto found = kinds.find(v);
  return found == kinds.end() ? Kind::kUnknown : found->second;
}

Kind kind_of(const Node& node, const Model& model, const Kinds& kinds, int64_t count) {
  std::vector<Kind> of_inputs;
  for (const Value* v : node.inputs()) of_inputs.push_back(kind_of(v, kinds));
  return Judge(NodeView(node, model.opset(node.domain)), std::move(of_inputs), count).kind();
}

}  // namespace

std::optional<std::vector<Dims>> dims_of_samples(const Model& model, const std::vector<bool>& batched, int64_t count) {
  Kinds kinds;
  size_t next = 0;
  for (const Value* v : model.graph->inputs()) {
    if (v->constant) continue;
    const bool samples = batched.at(next++);
    const auto desc = inferred(*v);
    if (samples && (!desc || desc->dims.empty() || desc->dims[0] != count || bits(desc->dtype) < 8))
      return std::nullopt;
    kinds[v] = samples ? Kind::kSamples : Kind::kSame;
  }
  std::vector<Dims> of_sample;
  for (const Node* node : model.graph->nodes()) {
    const Kind kind = kind_of(*node, model, kinds, count);
    for (const Value* v : node->outputs()) kinds[v] = kind;
    auto dims = kind == Kind::kSamples ? Judge::dims_of(*node->output(0)) : std::nullopt;
    if (dims) (*dims)[0] /= count;
    of_sample.push_back(dims.value_or(Dims()));
  }
  for (const Value* v : model.graph->outputs()) {
    const auto desc = inferred(*v);
    if (kind_of(v, kinds) != Kind::kSamples || !desc || desc->dims.empty() || desc->dims[0] % count != 0 ||
        bits(desc->dtype) < 8)
      return std::nullopt;
  }
  return of_sample;
}

}  // namespace mlopt
