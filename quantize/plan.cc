#include "quantize/plan.h"

#include <algorithm>

#include "core/base/text.h"

namespace mlopt::quantize {

void Plan::add(Value* v) {
  if (grid_owner_.insert(v).second) values.push_back(v);
}

Value* Plan::owner(Value* v) const {
  for (auto it = shares.find(v); it != shares.end(); it = shares.find(v)) v = it->second;
  return v;
}

namespace {

bool is_float32(const Value* v) { return v && v->type.is_tensor() && v->type.dtype == DType::kF32; }

/// Builds the plan of one graph; nested bodies stay float.
class Planner {
 public:
  Planner(const Model& model, const Spec& spec) : model_(model), spec_(spec), nodes_(model.graph->nodes()) {}

  Plan run() {
    find_products();
    find_wanted();
    for (const Node* node : nodes_) visit(*node);
    return std::move(plan_);
  }

 private:
  NodeView view(const Node& node) const { return {node, model_.opset(node.domain)}; }

  bool chosen(const Node& node) const {
    const std::string& label = node.name.empty() ? node.output(0)->name : node.name;
    return (spec_.only.empty() || glob_any(spec_.only, label)) && !glob_any(spec_.skip, label);
  }

  void find_products() {
    for (const Node* node : nodes_) {
      const auto product = is_product(view(*node));
      if (product && is_float32(node->input(0)) && chosen(*node)) {
        products_.insert(node);
      } else if (!product && !product.error().reason.empty()) {
        plan_.left[node->label()] = product.error().reason;
      } else if (product) {
        plan_.left[node->label()] = chosen(*node) ? "its activation is not float32" : "excluded by --only or --skip";
      }
    }
  }

  /// Values that an integer node would read: walking backwards, the inputs of products, and of what only passes codes
  /// on.
  void find_wanted() {
    for (auto it = nodes_.rbegin(); it != nodes_.rend(); ++it) {
      const Node& node = **it;
      if (products_.contains(&node)) {
        wanted_.insert(node.input(0));
        continue;
      }
      const NodeView v = view(node);
      const bool passes = moves_codes(v) || combines_codes(v) || clamps_at_zero(v);
      if (!passes || !wanted_.contains(node.output(0)) || !chosen(node)) continue;
      const size_t operands = moves_codes(v) || clamps_at_zero(v) ? 1 : node.inputs().size();
      for (size_t i = 0; i < operands; ++i) wanted_.insert(node.inputs()[i]);
    }
  }

  void visit(const Node& node) {
    if (products_.contains(&node)) {
      plan_.nodes.insert(&node);
      plan_.add(node.input(0));
      // A convolution has an integer kernel only with an integer result; a matrix product may give floats.
      if (node.is("Conv") || wanted_.contains(node.output(0))) add_result(node);
      return;
    }
    if (!wanted_.contains(node.output(0)) || !chosen(node)) return;
    const NodeView v = view(node);
    if (moves_codes(v) && plan_.quantizes(node.input(0))) {
      plan_.nodes.insert(&node);
      for (Value* y : node.outputs()) {
        if (!y) continue;
        plan_.shares[y] = node.input(0);
        plan_.add(y);
      }
    } else if (combines_codes(v) && operands_are_codes(node)) {
      plan_.nodes.insert(&node);
      add_result(node);
    }
  }

  bool operands_are_codes(const Node& node) const {
    const auto& in = node.inputs();
    return std::all_of(in.begin(), in.end(), [&](const Value* v) { return v && is_float32(v) && plan_.quantizes(v); });
  }

  /// The node's result, or that of the Relu or Clip that alone reads it and that the grid replaces.
  void add_result(const Node& node) {
    Value* y = node.output(0);
    if (!spec_.symmetric && y->single_use()) {
      const Node* next = y->uses[0].node;
      if (next->graph() == node.graph() && clamps_at_zero(view(*next)) && y->uses[0].index == 0) {
        plan_.clamped[next] = &node;
        plan_.add(next->output(0));
        return;
      }
    }
    plan_.add(y);
  }

  const Model& model_;
  const Spec& spec_;
  std::vector<Node*> nodes_;
  std::unordered_set<const Node*> products_;
  std::unordered_set<const Value*> wanted_;
  Plan plan_;
};

}  // namespace

Plan make_plan(const Model& model, const Spec& spec) { return Planner(model, spec).run(); }

}  // namespace mlopt::quantize
