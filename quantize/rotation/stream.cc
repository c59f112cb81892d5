#include "quantize/rotation/stream.h"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>

#include "core/ir/view.h"
#include "core/tensor/cast.h"

namespace mlopt::quantize {
namespace {

constexpr int64_t kLarge = 1024;  // numbers of a constant that is not stored twice

const Tensor* constant_of(const Node& node, int i) {
  const Value* v = node.input(i);
  return v ? v->known_constant() : nullptr;
}

bool ends_with_features(const Value& v, int64_t features) {
  return v.type.dims && !v.type.dims->empty() && v.type.dims->back() == Dim(features);
}

/// Is it the same number for all features of a place?
bool is_even(const Value* v) {
  if (const Tensor* t = v ? v->known_constant() : nullptr) return t->size() == 1;
  return v && v->type.dims && !v->type.dims->empty() && v->type.dims->back() == Dim(1);
}

/// Is it made by a division of features by a number that was computed for the place?
bool is_divided_by_size(const Value& x) {
  const Node* node = x.producer;
  if (!node || (!node->is("Mul") && !node->is("Div"))) return false;
  const auto computed = [&](int i) { return is_even(node->input(i)) && !node->input(i)->constant; };
  return computed(1) || (node->is("Mul") && computed(0));
}

int features_input(const Node& norm) { return 1 - scale_input(norm); }

class Tracer {
 public:
  Tracer(Node* norm, int64_t opset) : opset_(opset) {
    stream_.features = constant_of(*norm, scale_input(*norm))->size();
    push(norm->input(features_input(*norm)));
  }

  Stream run() {
    while (!open_.empty() && stream_.problem.empty()) {
      Value* v = open_.back();
      open_.pop_back();
      see_writer(v);
      for (const Use& use : std::vector<Use>(v->uses)) see_reader(use);
    }
    return std::move(stream_);
  }

 private:
  NodeView view(const Node& node) const { return {node, opset_}; }

  void refuse(std::string reason) {
    if (stream_.problem.empty()) stream_.problem = std::move(reason);
  }

  void push(Value* v) {
    if (!stream_.values.insert(v).second) return;
    if (v->is_output()) return refuse(fmt::format("'{}' is an output of the model", v->name));
    if (!v->producer) return refuse(fmt::format("'{}' is an input of the model", v->name));
    if (v->graph->owner) return refuse(fmt::format("'{}' is in the body of If, Loop or Scan", v->name));
    if (!ends_with_features(*v, stream_.features))
      return refuse(fmt::format("the last axis of '{}' is not {} features", v->name, stream_.features));
    open_.push_back(v);
  }

  /// A constant vector or matrix whose `axis` are the features.
  void turn(Node* node, int input, int axis, const Node* norm = nullptr) {
    const Value* v = node->input(input);
    const Tensor* t = v->known_constant();
    if (!t || t->dtype() != DType::kF32 || t->rank() <= axis || t->dim(axis) != stream_.features)
      return refuse(fmt::format("{} has no constant of {} features", node->label(), stream_.features));
    if (t->size() > kLarge && v->uses.size() > 1)
      return refuse(fmt::format("'{}' is read by other nodes than {} too", v->name, node->label()));
    stream_.constants.push_back({node, input, axis, norm});
  }

  /// What is added: the same for all features, which stays, or a constant whose last axis they are.
  void turn_added(Node* node, int input) {
    const Tensor* t = constant_of(*node, input);
    if (t->size() == 1 || (t->rank() > 0 && t->dims().back() == 1)) return;
    turn(node, input, static_cast<int>(t->rank()) - 1);
  }

  /// Gives the features of each place in another order or number of places.
  bool moves_places(const Node& node) const {
    if (node.is("Identity") || (node.is("Dropout") && node.outputs().size() == 1)) return true;
    const Value *x = node.input(0), *y = node.output(0);
    if (!x || !y || !ends_with_features(*x, stream_.features) || !ends_with_features(*y, stream_.features))
      return false;
    const auto rank = static_cast<int64_t>(x->type.dims->size());
    if (node.is("Reshape") || node.is("Squeeze") || node.is("Unsqueeze") || node.is("Expand")) return true;
    if (node.is("Transpose")) {
      const auto perm = view(node).get_ints("perm");
      return !perm.empty() && perm.back() == rank - 1;
    }
    const auto is_last = [&](int64_t axis) { return axis == rank - 1 || axis == -1; };
    if (node.is("Gather")) return !is_last(view(node).get_int("axis", 0));
    if (!node.is("Slice")) return false;
    const auto axes = view(node).ints("axes", 3);
    return axes && !axes->empty() && std::none_of(axes->begin(), axes->end(), is_last);
  }

  /// The operand of Mul, Div or Sub whose other is even, so that features that are rotated before are so behind; -1
  /// where there is none.
  static int scaled_operand(const Node& node) {
    for (const int i : {1, 0})
      if (is_even(node.input(i)) && (node.is("Mul") || (i == 1 && (node.is("Div") || node.is("Sub"))))) return 1 - i;
    return -1;
  }

  /// Mean or sum over the last axis.
  bool sums_features(const Node& node) const {
    if (!node.is("ReduceMean") && !node.is("ReduceSum")) return false;
    const auto axes = view(node).ints("axes", 1);
    const auto& dims = node.input(0)->type.dims;
    return axes && axes->size() == 1 && dims && (axes->front() == -1 || axes->front() == std::ssize(*dims) - 1);
  }

  /// Does it read of the features but their mean or the sum of their squares, which rotation leaves?
  bool reads_sums(const Node& node) const {
    if (sums_features(node)) return true;
    const Tensor* power = constant_of(node, 1);
    const bool squares = (node.is("Mul") && node.input(0) == node.input(1)) ||
                         (node.is("Pow") && power && power->size() == 1 && to_doubles(*power)[0] == 2);
    const Value* y = node.output(0);
    return squares && !y->is_output() &&
           std::all_of(y->uses.begin(), y->uses.end(), [&](const Use& use) { return sums_features(*use.node); });
  }

  void see_writer(Value* v) {
    Node* node = v->producer;
    if (node->is("Add")) {
      for (int i = 0; i < 2; ++i)
        if (constant_of(*node, i))
          turn_added(node, i);
        else if (!is_even(node->input(i)))
          push(node->input(i));
    } else if (node->is("MatMul") && constant_of(*node, 1)) {
      turn(node, 1, static_cast<int>(constant_of(*node, 1)->rank()) - 1);
    } else if (node->is("Gemm") && constant_of(*node, 1)) {
      turn(node, 1, view(*node).get_int("transB", 0) != 0 ? 0 : 1);
      if (constant_of(*node, 2))
        turn_added(node, 2);
      else if (node->input(2))
        push(node->input(2));
    } else if (node->is("Gather") && constant_of(*node, 0) && view(*node).get_int("axis", 0) == 0) {
      turn(node, 0, static_cast<int>(constant_of(*node, 0)->rank()) - 1);
    } else if (moves_places(*node) || scaled_operand(*node) >= 0) {
      const int from = std::max(0, scaled_operand(*node));
      constant_of(*node, from) ? turn_added(node, from) : push(node->input(from));
    } else if (normalizes_features(*node, opset_)) {
      refuse(fmt::format("{} scales the features of what is added up", node->label()));
    } else {
      refuse(fmt::format("{} does more than add to it", node->label()));
    }
  }

  void see_reader(const Use& use) {
    Node* node = use.node;
    if (node->is("Shape") || reads_sums(*node)) return;
    if (node->is("Add") || scaled_operand(*node) == use.index || (moves_places(*node) && use.index == 0))
      push(node->output(0));
    else if (normalizes_features(*node, opset_) && use.index == features_input(*node))
      see_norm(node);
    else if (!reads(use, nullptr))
      refuse(fmt::format("{} reads single features of it", node->label()));
  }

  void see_norm(Node* norm) {
    if (std::count(stream_.norms.begin(), stream_.norms.end(), norm)) return;
    stream_.norms.push_back(norm);
    if (constant_of(*norm, scale_input(*norm))->size() != stream_.features)
      return refuse("normalizations have other numbers of features");
    std::vector<Value*> after = {norm->output(0)};
    for (size_t i = 0; i < after.size() && stream_.problem.empty(); ++i) {
      if (after[i]->is_output()) return refuse(fmt::format("'{}' is an output of the model", after[i]->name));
      for (const Use& use : after[i]->uses) {
        if (use.node->is("Shape")) continue;
        if (moves_places(*use.node) && use.index == 0)
          after.push_back(use.node->output(0));
        else if (!reads(use, norm))
          refuse(fmt::format("{} reads single features behind {}", use.node->label(), norm->label()));
      }
    }
  }

  /// Is it a product over the features with a constant matrix?
  bool reads(const Use& use, const Node* norm) {
    Node* node = use.node;
    const Tensor* w = constant_of(*node, 1);
    if (use.index != 0 || !w || w->rank() != 2 || node->graph()->owner) return false;
    if (node->is("MatMul")) {
      turn(node, 1, 0, norm);
    } else if (node->is("Gemm") && view(*node).get_int("transA", 0) == 0) {
      turn(node, 1, view(*node).get_int("transB", 0) != 0 ? 1 : 0, norm);
    } else {
      return false;
    }
    return true;
  }

  int64_t opset_;
  Stream stream_;
  std::vector<Value*> open_;
};

}  // namespace

int scale_input(const Node& norm) { return norm.is("Mul") && constant_of(norm, 0) ? 0 : 1; }

bool normalizes_features(const Node& node, int64_t opset) {
  if (node.is("Mul")) {
    const Tensor* factor = constant_of(node, scale_input(node));
    const Value* x = node.input(1 - scale_input(node));
    return factor && factor->rank() == 1 && factor->size() > 1 && factor->dtype() == DType::kF32 && x &&
           is_divided_by_size(*x) && ends_with_features(*x, factor->size());
  }
  if (node.op != "LayerNormalization" && node.op != "SimplifiedLayerNormalization" && node.op != "RMSNormalization")
    return false;
  const Tensor* scale = constant_of(node, 1);
  if (!scale || scale->rank() != 1 || scale->dtype() != DType::kF32) return false;
  if (node.input(2)) {
    const Tensor* bias = constant_of(node, 2);
    if (!bias || bias->dims() != scale->dims() || bias->dtype() != DType::kF32) return false;
  }
  for (size_t i = 1; i < node.outputs().size(); ++i)
    if (node.outputs()[i] && !node.outputs()[i]->uses.empty()) return false;
  const auto& dims = node.input(0)->type.dims;
  const int64_t axis = NodeView(node, opset).get_int("axis", -1);
  return dims && (axis == -1 || axis == std::ssize(*dims) - 1) && ends_with_features(*node.input(0), scale->size());
}

Stream trace_stream(Node* norm, int64_t opset) { return Tracer(norm, opset).run(); }

}  // namespace mlopt::quantize
