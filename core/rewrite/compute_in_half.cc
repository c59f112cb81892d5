#include "core/rewrite/compute_in_half.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "core/rewrite/cast_output.h"
#include "core/rewrite/half_rules.h"
#include "core/rewrite/pass.h"
#include "core/tensor/cast.h"

namespace mlopt {
namespace {

/// Larger constants are weights; smaller ones belong to the arithmetic of positions.
constexpr int64_t kFewElements = 1024;

bool has_known_type(const Value* v) { return !v || v->type.has_dtype(); }
bool is_f32(const Value* v) { return v && v->type.is_tensor() && v->type.dtype == DType::kF32; }

class Rewrite {
 public:
  Rewrite(Model& model, const HalfOptions& options)
      : model_(model),
        graph_(*model.graph),
        options_(options),
        may_overflow_(options.type == DType::kF16),
        type_number_(static_cast<int64_t>(options.type)) {}

  ComputedInHalf run() {
    for (Node* node : graph_.nodes()) {
      if (node->is("Constant")) continue;  // as_half_ has it where half floats are asked for
      if (is_unscaled(*node)) unscaled_.insert(node->outputs().begin(), node->outputs().end());
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
  bool overflows(const Node& node) const { return may_overflow_ && half::overflows(node, options_.sums_in_float32); }
  bool keeps(const Node& node, size_t i) const { return options_.keeps_input && options_.keeps_input(node, i); }

  std::string why_float(const Node& node) const {
    if (std::string reason = options_.why_float(node); !reason.empty()) return reason;
    if (overflows(node)) return "its results may not fit into float16";
    const auto known = [](const std::vector<Value*>& values) {
      return std::all_of(values.begin(), values.end(), has_known_type);
    };
    if (!known(node.inputs()) || !known(node.outputs())) return "it works on values of unknown type, or on sequences";
    if (may_overflow_ && half::feeds_wide_statistics(node))
      return "its results do not fit into float16, as the batch normalization after it says";
    if (has_fixed_results(node)) return "its results are float32 whatever its operands are";
    bool masks = false;
    for (size_t i = 0; i < node.inputs().size(); ++i) {
      const Value* v = node.inputs()[i];
      if (!is_f32(v) || !v->known_constant() || keeps(node, i)) continue;
      const bool huge = half::may_mask(node) && half::is_huge(*v->constant);
      if (!huge && !half::fits(*v->constant, options_.type)) return "a constant does not fit into float16";
      masks = masks || huge;
    }
    if (!masks && (reads_unscaled(node) || works_on_wide(node)))
      return "it works on numbers that half floats cannot hold";
    return {};
  }

  bool reads_unscaled(const Node& node) const {
    return std::any_of(node.inputs().begin(), node.inputs().end(),
                       [&](const Value* v) { return unscaled_.contains(v); });
  }

  /// Does it make sums of products of integers, or a scale that turns them into numbers? float16 holds neither.
  bool is_unscaled(const Node& node) const {
    for (const char* op : {"MatMulInteger", "ConvInteger", "DynamicQuantizeLinear"})
      if (node.is(op)) return true;
    const Value* y = node.first_output();
    if (!y || !reads_unscaled(node)) return false;
    if (!node.is("Mul")) return node.is("Cast") || y->type.dtype == DType::kI32;
    const auto more = [](const Use& use) { return use.node->is("Mul"); };  // another scale
    return !y->uses.empty() && std::all_of(y->uses.begin(), y->uses.end(), more);
  }

  /// Positions, lengths, sums of squares and what is made of them before weights or activations come in: half floats
  /// hold few integers and float16 no large sums, and these are cheap.
  bool works_on_wide(const Node& node) const {
    const Value *x = node.input(0), *y = node.output(0);
    if (node.is("Cast"))
      return is_f32(y) && x && (wide_.contains(x) || x->type.dtype == DType::kI64 || x->type.dtype == DType::kI32);
    if (node.is("Range") || overflows(node)) return true;
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

  bool has_fixed_results(const Node& node) const {
    if (node.is("Cast") || node.is("EyeLike") || node.is("ConstantOfShape")) return false;
    if (node.is("DynamicQuantizeLinear") || (node.is("LayerNormalization") && node.outputs().size() > 1)) return true;
    return std::any_of(node.outputs().begin(), node.outputs().end(), is_f32) &&
           std::none_of(node.inputs().begin(), node.inputs().end(),
                        [&](const Value* v) { return is_f32(v) || half_.contains(v); });
  }

  bool touches_floats(const Node& node) const {
    const auto f32 = [&](const Value* v) { return is_f32(v) || half_.contains(v); };
    return std::any_of(node.inputs().begin(), node.inputs().end(), f32) ||
           std::any_of(node.outputs().begin(), node.outputs().end(), f32) || !node.bodies().empty();
  }

  Value* constant_as(const Value* v, DType type) {
    if (type == DType::kF32) return graph_.add_constant(v->name + "_float", cast(*v->constant, type));
    return graph_.add_constant(
        v->name + "_half", options_.round ? options_.round(*v->constant) : half::rounded(*v->constant, options_.type));
  }

  Value* cast_before(Value* v, DType type, const Node* before, std::unordered_map<Value*, Value*>& cache) {
    Value*& made = cache[v];
    if (made) return made;
    if (v->known_constant()) return made = constant_as(v, type);
    made = graph_.add_op("Cast", {v}, {{"to", int64_t{static_cast<int64_t>(type)}, {}}}, before, v->name + "_cast")
               ->output(0);
    made->type = Type::tensor(type, v->type.dims);
    return made;
  }

  /// The node reads and writes half floats.
  void to_half(Node* node) {
    const bool weighted = std::any_of(node->inputs().begin(), node->inputs().end(),
                                      [](const Value* v) { return is_f32(v) && v->known_constant(); });
    if (weighted && node->first_output()) {
      const std::string& source = node->first_output()->name;
      done_.layers.push_back({node->called(), node->op, source, source});
      results_.push_back(node->first_output());
    }
    for (size_t i = 0; i < node->inputs().size(); ++i) {
      Value* v = node->inputs()[i];
      if (keeps(*node, i)) {
        if (half_.contains(v))
          graph_.set_input(node, static_cast<int>(i), cast_before(v, DType::kF32, node, as_float_));
      } else if (is_f32(v)) {
        graph_.set_input(node, static_cast<int>(i), cast_before(v, options_.type, node, as_half_));
      }
    }
    if (node->is("Cast") || node->is("EyeLike")) retarget(node);
    if (node->is("ConstantOfShape")) fill_with_half(node);
    for (Value* y : node->outputs())
      if (is_f32(y)) y->type.dtype = options_.type, half_.insert(y);
  }

  void fill_with_half(Node* node) const {
    if (const Attr* value = node->attr("value")) {
      if (const auto* t = std::get_if<Tensor>(&value->value); t && t->dtype() == DType::kF32)
        node->set_attr("value", cast(*t, options_.type));
    } else {
      node->set_attr("value", cast(Tensor::of<float>({1}, {0}), options_.type));
    }
  }

  /// A Cast to float32 gives half floats from now on; integers lose digits, so those that feed float32 nodes stay exact
  /// only as far as these are.
  void retarget(Node* node) const {
    const char* name = node->is("Cast") ? "to" : "dtype";
    const Attr* to = node->attr(name);
    const auto* type = to ? std::get_if<int64_t>(&to->value) : nullptr;
    if (type && *type == static_cast<int64_t>(DType::kF32)) node->set_attr(name, type_number_);
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
  const HalfOptions& options_;
  bool may_overflow_;
  int64_t type_number_;
  std::unordered_set<const Value*> half_;
  std::unordered_set<const Value*> wide_;  ///< float32 for a reason of their own
  std::unordered_set<const Value*> unscaled_;
  std::unordered_map<Value*, Value*> as_half_, as_float_;
  std::vector<const Value*> results_;
  ComputedInHalf done_;
};

}  // namespace

ComputedInHalf compute_in_half(Model& model, const HalfOptions& options) { return Rewrite(model, options).run(); }

}  // namespace mlopt
