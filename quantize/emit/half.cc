#include "quantize/emit/half.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "core/rewrite/pass.h"
#include "core/tensor/cast.h"
#include "quantize/emit/cast_output.h"
#include "quantize/plan.h"

namespace mlopt::quantize {
namespace {

/// Operators with an input that is float32 by definition, or without a float16 kernel in runtimes.
constexpr std::string_view kFloat32[] = {"Resize",
                                         "Upsample",
                                         "NonMaxSuppression",
                                         "RoiAlign",
                                         "CumSum",
                                         "QuantizeLinear",
                                         "DequantizeLinear",
                                         "DynamicQuantizeLinear",
                                         "QLinearConv",
                                         "QLinearMatMul",
                                         "RandomNormal",
                                         "RandomUniform",
                                         "RandomNormalLike",
                                         "RandomUniformLike",
                                         "Multinomial",
                                         "Range",
                                         "DFT",
                                         "STFT",
                                         "MelWeightMatrix",
                                         "Celu",
                                         "MeanVarianceNormalization",
                                         "Loop",
                                         "If",
                                         "Scan"};
/// Operators whose results or sums leave the range of float16 for ordinary operands: the square of 256 does.
constexpr std::string_view kOverflows[] = {
    "Pow",      "Exp",        "ReduceSum",    "ReduceSumSquare", "ReduceMean",   "ReduceL1",
    "ReduceL2", "ReduceProd", "ReduceLogSum", "ReduceLogSumExp", "GlobalLpPool", "LpPool"};
constexpr float kLargest = 65504;
constexpr float kDeviations = 4;  // from the mean, that values may be
constexpr float kSmallest = 0x1p-24f;
/// Numbers that only mean "as far as there is": what masks out, limits that limit nothing.
constexpr float kHuge = 1e9f;
constexpr std::string_view kMasking[] = {"Where", "Mul", "Add", "Sub", "Clip", "Min", "Max"};
/// Larger constants are weights; smaller ones belong to the arithmetic of positions.
constexpr int64_t kFewElements = 1024;

template <size_t N>
bool listed(const std::string_view (&ops)[N], const Node& node) {
  return std::find(std::begin(ops), std::end(ops), node.op) != std::end(ops);
}

bool is_huge(const Tensor& t) {
  const double x = t.size() == 1 ? std::fabs(number_at(t, 0)) : 0;
  return x >= static_cast<double>(kHuge) && std::isfinite(x);
}

bool fits(const Tensor& t) {
  const std::vector<float> numbers = to_floats(t);
  return std::all_of(numbers.begin(), numbers.end(),
                     [](float x) { return !std::isfinite(x) || std::fabs(x) <= kLargest; });
}

/// A constant as float16. A number alone keeps its meaning: a small one (the epsilon of a division) becomes the least
/// there is instead of 0, a huge one (of a mask) the largest instead of infinity.
Tensor rounded(const Tensor& t) {
  if (t.size() == 1) {
    const double x = number_at(t, 0), sign = x < 0 ? -1 : 1;
    const bool small = x != 0 && std::fabs(x) < static_cast<double>(kSmallest);
    if (small || is_huge(t))
      return cast(Tensor::of<float>(t.dims(), {static_cast<float>(sign) * (small ? kSmallest : kLargest)}),
                  DType::kF16);
  }
  return cast(t, DType::kF16);
}

bool has_known_type(const Value* v) { return !v || (v->type.is_tensor() && v->type.dtype != DType::kUndefined); }

class HalfEmitter {
 public:
  HalfEmitter(Model& model, const Spec& spec) : model_(model), graph_(*model.graph), spec_(spec) {}

  Emitted run() {
    for (Node* node : graph_.nodes()) {
      if (node->is("Constant")) continue;  // as_half_ has it where float16 is asked for
      const std::string reason = why_float(*node);
      if (reason.empty()) {
        to_half(node);
      } else if (touches_floats(*node)) {
        if (works_on_wide(*node)) wide_.insert(node->outputs().begin(), node->outputs().end());
        done_.left[node->label()] = reason, to_float(node);
      }
    }
    restore_outputs();
    remove_dead(model_);
    for (size_t i = 0; i < results_.size(); ++i) done_.layers[i].result = results_[i]->name;
    return std::move(done_);
  }

 private:
  std::string why_float(const Node& node) const {
    if (!chosen(node, spec_)) return "excluded by --only or --skip";
    if (!node.domain.empty()) return "its domain is not the standard's";
    if (listed(kFloat32, node)) return "it has no float16 form that runtimes run";
    if (listed(kOverflows, node)) return "its results may not fit into float16";
    const auto known = [](const std::vector<Value*>& values) {
      return std::all_of(values.begin(), values.end(), has_known_type);
    };
    if (!known(node.inputs()) || !known(node.outputs())) return "it works on values of unknown type, or on sequences";
    if (feeds_wide_statistics(node))
      return "its results do not fit into float16, as the batch normalization after it says";
    if (has_fixed_results(node)) return "its results are float32 whatever its operands are";
    bool masks = false;
    for (const Value* v : node.inputs()) {
      if (!is_f32(v) || !v->known_constant()) continue;
      const bool huge = listed(kMasking, node) && is_huge(*v->constant);
      if (!huge && !fits(*v->constant)) return "a constant does not fit into float16";
      masks = masks || huge;
    }
    if (!masks && works_on_wide(node)) return "it works on numbers that float16 cannot hold";
    return {};
  }

  /// Positions, lengths, sums of squares and what is made of them before weights or activations come in: float16 holds
  /// few integers and no large sums, and these are cheap.
  bool works_on_wide(const Node& node) const {
    const Value *x = node.input(0), *y = node.output(0);
    if (node.is("Cast"))
      return is_f32(y) && x && (wide_.contains(x) || x->type.dtype == DType::kI64 || x->type.dtype == DType::kI32);
    if (node.is("Range") || listed(kOverflows, node)) return true;
    bool any = false;
    for (const Value* v : node.inputs()) {
      if (half_.contains(v)) return false;
      if (!is_f32(v)) continue;
      const Tensor* t = v->known_constant();
      if (t ? t->size() > kFewElements : !wide_.contains(v)) return false;
      any = any || !t;
    }
    return any;
  }

  /// A batch normalization knows the mean and variance of what it is given.
  static bool feeds_wide_statistics(const Node& node) {
    const auto wide = [](const Use& use) {
      if (!use.node->is("BatchNormalization") || use.index != 0) return false;
      const Value *mean = use.node->input(3), *variance = use.node->input(4);
      if (!mean || !variance || !mean->known_constant() || !variance->known_constant()) return false;
      const std::vector<float> m = to_floats(*mean->known_constant()), v = to_floats(*variance->known_constant());
      for (size_t i = 0; i < std::min(m.size(), v.size()); ++i)
        if (std::fabs(m[i]) + kDeviations * std::sqrt(std::fabs(v[i])) > kLargest) return true;
      return false;
    };
    return std::any_of(node.outputs().begin(), node.outputs().end(),
                       [&](const Value* y) { return is_f32(y) && std::any_of(y->uses.begin(), y->uses.end(), wide); });
  }

  bool has_fixed_results(const Node& node) const {
    if (node.is("Cast") || node.is("EyeLike") || node.is("ConstantOfShape")) return false;
    if (node.is("LayerNormalization") && node.outputs().size() > 1) return true;
    return std::any_of(node.outputs().begin(), node.outputs().end(), is_f32) &&
           std::none_of(node.inputs().begin(), node.inputs().end(),
                        [&](const Value* v) { return is_f32(v) || half_.contains(v); });
  }

  static bool is_f32(const Value* v) { return v && v->type.is_tensor() && v->type.dtype == DType::kF32; }

  bool touches_floats(const Node& node) const {
    const auto f32 = [&](const Value* v) { return is_f32(v) || half_.contains(v); };
    return std::any_of(node.inputs().begin(), node.inputs().end(), f32) ||
           std::any_of(node.outputs().begin(), node.outputs().end(), f32) || !node.bodies().empty();
  }

  Value* cast_before(Value* v, DType type, const Node* before, std::unordered_map<Value*, Value*>& cache) {
    Value*& made = cache[v];
    if (made) return made;
    if (const Tensor* t = v->known_constant()) {
      made = type == DType::kF16 ? graph_.add_constant(v->name + "_half", rounded(*t))
                                 : graph_.add_constant(v->name + "_float", cast(*t, type));
    } else {
      made = graph_.add_op("Cast", {v}, {{"to", int64_t{static_cast<int64_t>(type)}, {}}}, before, v->name + "_cast")
                 ->output(0);
      made->type = Type::tensor(type, v->type.dims);
    }
    return made;
  }

  /// The node reads and writes float16.
  void to_half(Node* node) {
    const bool weighted = std::any_of(node->inputs().begin(), node->inputs().end(),
                                      [](const Value* v) { return is_f32(v) && v->known_constant(); });
    if (weighted && node->first_output())
      done_.layers.push_back(layer_of(*node)), results_.push_back(node->first_output());
    for (size_t i = 0; i < node->inputs().size(); ++i) {
      Value* v = node->inputs()[i];
      if (is_f32(v)) graph_.set_input(node, static_cast<int>(i), cast_before(v, DType::kF16, node, as_half_));
    }
    if (node->is("Cast") || node->is("EyeLike")) retarget(node);
    if (const Attr* value = node->is("ConstantOfShape") ? node->attr("value") : nullptr; value) {
      if (const auto* t = std::get_if<Tensor>(&value->value); t && t->dtype() == DType::kF32)
        node->set_attr("value", cast(*t, DType::kF16));
    } else if (node->is("ConstantOfShape")) {
      node->set_attr("value", cast(Tensor::of<float>({1}, {0}), DType::kF16));
    }
    for (Value* y : node->outputs())
      if (is_f32(y)) y->type.dtype = DType::kF16, half_[y] = true;
  }

  /// A Cast to float32 gives float16 from now on; integers above 2048 lose digits, so those that feed float32 nodes
  /// stay exact only as far as float16 is.
  static void retarget(Node* node) {
    const char* name = node->is("Cast") ? "to" : "dtype";
    const Attr* to = node->attr(name);
    const auto* type = to ? std::get_if<int64_t>(&to->value) : nullptr;
    if (type && *type == static_cast<int64_t>(DType::kF32))
      node->set_attr(name, int64_t{static_cast<int64_t>(DType::kF16)});
  }

  /// The node, and what its bodies capture, reads float32.
  void to_float(Node* node) {
    for (size_t i = 0; i < node->inputs().size(); ++i) {
      Value* v = node->inputs()[i];
      if (half_.contains(v)) graph_.set_input(node, static_cast<int>(i), cast_before(v, DType::kF32, node, as_float_));
    }
    for (Graph* body : node->bodies())
      for (Value* v : captures(*body)) {
        if (!half_.contains(v)) continue;
        Value* exact = cast_before(v, DType::kF32, node, as_float_);
        for (const Use use : std::vector<Use>(v->uses))
          if (use.node->graph() != &graph_) use.node->graph()->set_input(use.node, use.index, exact);
      }
  }

  void restore_outputs() {
    for (Value* y : std::vector<Value*>(graph_.outputs())) {
      if (!half_.contains(y) || !y->producer) continue;
      cast_output(graph_, y, Type::tensor(DType::kF32, y->type.dims), y->name + "_half");
    }
  }

  Model& model_;
  Graph& graph_;
  const Spec& spec_;
  std::unordered_map<const Value*, bool> half_;
  std::unordered_set<const Value*> wide_;  ///< float32 for a reason of their own
  std::unordered_map<Value*, Value*> as_half_, as_float_;
  std::vector<const Value*> results_;
  Emitted done_;
};

}  // namespace

Emitted emit_half(Model& model, const Spec& spec) { return HalfEmitter(model, spec).run(); }

}  // namespace mlopt::quantize
