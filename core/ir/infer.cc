#include "core/ir/infer.h"

#include <algorithm>

#include "core/ir/infer_bodies.h"
#include "core/ir/infer_rules.h"

namespace mlopt {
namespace {

class Inference {
 public:
  Inference(const Model& model, TypeRule standard, bool keep_outputs)
      : model_(model), standard_(standard), keep_outputs_(keep_outputs) {}

  void walk(Graph& graph) {
    for (Value* v : graph.values())
      if (v->is_initializer() && !v->is_input) v->type = Type::tensor(v->constant->dtype(), v->constant->dims());
    for (Node* node : graph.nodes()) visit(*node);
  }

  void visit(Node& node) {
    const NodeView view(node, model_.opset(node.domain));
    infer_rules::enter_bodies(view);
    for (Graph* body : node.bodies()) walk(*body);
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

 private:
  /// Declared outputs of the main graph stay as they are; a missing declaration is filled in.
  void settle(Value& y, Type fresh) const {
    const bool declared = keep_outputs_ && y.is_output() && !y.graph->owner;
    if (declared && y.type.kind != Type::Kind::kUnknown && (y.type.dims || y.type.kind != Type::Kind::kTensor)) return;
    y.type = infer_rules::merged(y.type, std::move(fresh));
  }

  std::vector<Type> types_of(const NodeView& view) {
    const auto& outputs = view.node().outputs();
    if (std::all_of(outputs.begin(), outputs.end(), [](const Value* y) { return !y || y->constant; })) return {};
    if (auto own = infer_rules::body_types(view)) return std::move(*own);
    if (auto own = infer_rules::output_types(view)) return std::move(*own);
    if (standard_ && view.node().bodies().empty()) return standard_(view);
    return {};
  }

  const Model& model_;
  TypeRule standard_;
  bool keep_outputs_;
};

}  // namespace

void infer(Model& model, TypeRule standard, bool keep_outputs) {
  Inference(model, standard, keep_outputs).walk(*model.graph);
}

void infer(const Model& model, Node& node, TypeRule standard, bool keep_outputs) {
  Inference(model, standard, keep_outputs).visit(node);
}

}  // namespace mlopt
