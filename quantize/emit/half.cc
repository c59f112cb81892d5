#include "quantize/emit/half.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string_view>
#include <unordered_map>

#include "core/base/text.h"
#include "core/rewrite/pass.h"
#include "core/tensor/cast.h"

namespace mlopt::quantize {
namespace {

/// Operators with an input that is float32 by definition, without a float16 kernel anywhere, or whose sums overflow
/// float16.
constexpr std::string_view kFloat32[] = {"Resize",
                                         "Upsample",
                                         "NonMaxSuppression",
                                         "RoiAlign",
                                         "CumSum",
                                         "QuantizeLinear",
                                         "DequantizeLinear",
                                         "DynamicQuantizeLinear",
                                         "RandomNormal",
                                         "RandomUniform",
                                         "RandomNormalLike",
                                         "RandomUniformLike",
                                         "Multinomial",
                                         "Range",
                                         "DFT",
                                         "STFT",
                                         "MelWeightMatrix",
                                         "Loop",
                                         "If",
                                         "Scan"};
constexpr float kLargest = 65504;

bool fits(const Tensor& t) {
  const std::vector<float> numbers = to_floats(t);
  return std::all_of(numbers.begin(), numbers.end(),
                     [](float x) { return !std::isfinite(x) || std::fabs(x) <= kLargest; });
}

class HalfEmitter {
 public:
  HalfEmitter(Model& model, const Spec& spec) : model_(model), graph_(*model.graph), spec_(spec) {}

  Emitted run() {
    for (Node* node : graph_.nodes()) {
      const std::string reason = why_float(*node);
      if (reason.empty())
        to_half(node);
      else if (touches_floats(*node))
        done_.left[node->label()] = reason, to_float(node);
    }
    restore_outputs();
    remove_dead(model_);
    for (size_t i = 0; i < results_.size(); ++i) done_.layers[i].result = results_[i]->name;
    return std::move(done_);
  }

 private:
  std::string why_float(const Node& node) const {
    const std::string& label = node.name.empty() && node.output(0) ? node.output(0)->name : node.name;
    if (!(spec_.only.empty() || glob_any(spec_.only, label)) || glob_any(spec_.skip, label))
      return "excluded by --only or --skip";
    if (!node.domain.empty()) return "its domain is not the standard's";
    if (std::find(std::begin(kFloat32), std::end(kFloat32), node.op) != std::end(kFloat32))
      return "it has no float16 form that runtimes run";
    for (const Value* v : node.inputs())
      if (v && v->known_constant() && v->constant->dtype() == DType::kF32 && !fits(*v->constant))
        return "a constant does not fit into float16";
    return {};
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
      made = graph_.add_constant(v->name + (type == DType::kF16 ? "_half" : "_float"), cast(*t, type));
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
    if (weighted) done_.layers.push_back(layer_of(*node)), results_.push_back(node->output(0));
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
      Node* back = graph_.add_op("Cast", {y}, {{"to", int64_t{static_cast<int64_t>(DType::kF32)}, {}}}, nullptr,
                                 y->name + "_half");
      const std::vector<Use> uses = y->uses;
      const Type declared = Type::tensor(DType::kF32, y->type.dims);
      const Type inner = y->type;
      y->type = declared;  // what the output's new producer takes over
      graph_.replace_uses(y, back->output(0));
      y->type = inner;
      for (const Use& use : uses) use.node->graph()->set_input(use.node, use.index, y);
    }
  }

  Model& model_;
  Graph& graph_;
  const Spec& spec_;
  std::unordered_map<const Value*, bool> half_;
  std::unordered_map<Value*, Value*> as_half_, as_float_;
  std::vector<const Value*> results_;
  Emitted done_;
};

}  // namespace

Emitted emit_half(Model& model, const Spec& spec) { return HalfEmitter(model, spec).run(); }

}  // namespace mlopt::quantize
