#include "core/ir/infer.h"

#include <algorithm>

#include "core/ir/infer_rules.h"

namespace mlopt {
namespace {

/// What `fresh` knows, completed by what `old` knew.
Type merged(const Type& old, Type fresh) {
  if (fresh.kind == Type::Kind::kUnknown) return old;
  if (old.kind != fresh.kind) return fresh;
  if (fresh.dtype == DType::kUndefined) fresh.dtype = old.dtype;
  if (!fresh.dims) fresh.dims = old.dims;
  if (!fresh.element) fresh.element = old.element;
  if (fresh.dims && old.dims && fresh.dims->size() == old.dims->size())
    for (size_t i = 0; i < fresh.dims->size(); ++i) {
      Dim& dim = (*fresh.dims)[i];
      const Dim& before = (*old.dims)[i];
      if (!dim.known() || (!dim.value() && before.value())) dim = before;
    }
  fresh.denotation = old.denotation;
  return fresh;
}

/// The type that holds whichever of two branches was taken.
Type common(const Type& a, const Type& b) {
  if (a.kind != b.kind) return {};
  Type t = a;
  if (a.dtype != b.dtype) t.dtype = DType::kUndefined;
  if (!a.dims || !b.dims || a.dims->size() != b.dims->size()) {
    t.dims.reset();
    return t;
  }
  for (size_t i = 0; i < t.dims->size(); ++i)
    if (!((*a.dims)[i] == (*b.dims)[i])) (*t.dims)[i] = Dim();
  return t;
}

class Inference {
 public:
  Inference(const Model& model, TypeRule standard) : model_(model), standard_(standard) {}

  void walk(Graph& graph) {
    for (Value* v : graph.values())
      if (v->is_initializer() && !v->is_input) v->type = Type::tensor(v->constant->dtype(), v->constant->dims());
    for (Node* node : graph.nodes()) visit(*node);
  }

 private:
  void visit(Node& node) {
    for (Graph* body : node.bodies()) walk(*body);
    const NodeView view(node, model_.opset(node.domain));
    std::vector<Type> types = types_of(view);
    for (size_t i = 0; i < node.outputs().size(); ++i) {
      Value* y = node.outputs()[i];
      if (!y) continue;
      if (y->constant)
        types.resize(std::max(types.size(), i + 1)), types[i] = Type::tensor(y->constant->dtype(), y->constant->dims());
      if (i < types.size()) settle(*y, std::move(types[i]));
    }
    if (Value* y = node.output(0); y && !y->constant) y->symbolic = infer_rules::output_elements(view);
  }

  /// Declared outputs of the main graph stay as they are; a missing declaration is filled in.
  void settle(Value& y, Type fresh) const {
    const bool declared = y.is_output() && !y.graph->owner;
    if (declared && y.type.kind != Type::Kind::kUnknown && (y.type.dims || y.type.kind != Type::Kind::kTensor)) return;
    y.type = merged(y.type, std::move(fresh));
  }

  std::vector<Type> types_of(const NodeView& view) {
    const Node& node = view.node();
    if (node.is("If")) return branches(node);
    if (node.is("Loop")) return loop(node);
    if (auto own = infer_rules::output_types(view)) return std::move(*own);
    if (standard_ && node.bodies().empty()) return standard_(view);
    return {};
  }

  static std::vector<Type> branches(const Node& node) {
    const std::vector<Graph*> bodies = node.bodies();
    if (bodies.size() != 2 || bodies[0]->outputs().size() != bodies[1]->outputs().size()) return {};
    std::vector<Type> types;
    for (size_t i = 0; i < bodies[0]->outputs().size(); ++i)
      types.push_back(common(bodies[0]->outputs()[i]->type, bodies[1]->outputs()[i]->type));
    return types;
  }

  /// Carried values keep what the initial value and the body's result agree on; scanned outputs gain a leading axis.
  static std::vector<Type> loop(const Node& node) {
    const std::vector<Graph*> bodies = node.bodies();
    if (bodies.size() != 1) return {};
    const auto& results = bodies[0]->outputs();
    const size_t carried = node.inputs().size() < 2 ? 0 : node.inputs().size() - 2;
    std::vector<Type> types;
    for (size_t i = 0; i + 1 < results.size(); ++i) {
      Type type = results[i + 1]->type;
      if (i < carried) {
        type = node.input(static_cast<int>(i) + 2) ? common(type, node.input(static_cast<int>(i) + 2)->type) : Type();
      } else if (type.dims) {
        type.dims->insert(type.dims->begin(), Dim());
      }
      types.push_back(std::move(type));
    }
    return types;
  }

  const Model& model_;
  TypeRule standard_;
};

}  // namespace

void infer(Model& model, TypeRule standard) { Inference(model, standard).walk(*model.graph); }

}  // namespace mlopt
