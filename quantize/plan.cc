#include "quantize/plan.h"

#include <algorithm>
#include <set>

#include "core/rewrite/pass.h"

namespace mlopt::quantize {

void Plan::add(Value* v) {
  if (grid_owner_.insert(v).second) values.push_back(v);
}

Value* Plan::owner(Value* v) const {
  for (auto it = shares.find(v); it != shares.end(); it = shares.find(v)) v = it->second;
  return v;
}

bool chosen(const Node& node, const Spec& spec) { return mlopt::chosen(node, spec.only, spec.skip); }

namespace {

/// Builds the plan of one graph; nested bodies stay float.
class Planner {
 public:
  Planner(const Model& model, const Spec& spec) : model_(model), spec_(spec), nodes_(model.graph->nodes()) {}

  Plan run() {
    find_products();
    if (spec_.target.rounds_inputs_only() && !spec_.require_integer) return inputs_alone();
    if (spec_.require_integer) return everything();
    find_possible();
    find_wanted();
    for (const Node* node : nodes_)
      if (products_.contains(node)) plan_.add(node->input(0));
    for (const Node* node : nodes_) visit(*node);
    return std::move(plan_);
  }

 private:
  NodeView view(const Node& node) const { return {node, model_.opset(node.domain)}; }

  void find_products() {
    for (const Node* node : nodes_) {
      const auto product = is_product(view(*node), spec_.require_integer);
      if (product && chosen(*node, spec_)) {
        products_.insert(node);
      } else if (product) {
        plan_.left[node->label()] = "excluded by --only or --skip";
      } else if (!product.error().reason.empty() && !spec_.require_integer) {
        plan_.left[node->label()] = product.error().reason;
      }
    }
  }

  /// The values that products read are rounded, for sums that read them as well.
  Plan inputs_alone() {
    for (const Node* node : nodes_)
      if (products_.contains(node)) plan_.add(node->input(0));
    for (const Node* node : nodes_)
      if (products_.contains(node) || (node->is("Add") && chosen(*node, spec_))) plan_.nodes.insert(node);
    return std::move(plan_);
  }

  static bool is_f32(const Value* v) { return v && v->type.is_tensor() && v->type.dtype == DType::kF32; }

  /// Why the node cannot be on integers; null where it can.
  const char* objection(const Node& node) const {
    if (!chosen(node, spec_)) return "excluded by --only or --skip";
    if (!node.bodies().empty()) return "its bodies compute in floats";
    if (node.is("Cast") && node.output(0)->is_output()) return nullptr;  // the type that the caller is given
    for (const Value* v : node.outputs())
      if (v && (!v->type.is_tensor() || (is_float(v->type.dtype) && !is_f32(v))))
        return "its result is not float32 or integer";
    return nullptr;
  }

  /// Every float, but what a constant input other than an operand says.
  Plan everything() {
    static const std::set<std::string_view> kSettings = {"Clip", "Resize", "Upsample", "Pad", "OneHot", "Dropout"};
    for (Node* node : nodes_) {
      if (const char* reason = objection(*node)) plan_.left[node->label()] = reason;
      if (clamped_by_producer(*node)) continue;
      plan_.nodes.insert(node);
      const bool settings = kSettings.contains(node->op), product = products_.contains(node);
      const auto scalar = product ? std::nullopt : scalar_operand(view(*node));
      if (scalar) plan_.scalars[node] = *scalar;
      for (int i = 0; i < static_cast<int>(node->inputs().size()); ++i) {
        Value* x = node->input(i);
        if (!is_f32(x) || (settings && i > 0) || node->is("Constant")) continue;
        if (!x->known_constant())
          plan_.add(x);
        else if (!product && scalar != i)
          plan_.constants[node].push_back(i);
      }
      add_results(*node);
    }
    return std::move(plan_);
  }

  void add_results(const Node& node) {
    if (moves_codes(view(node)) && is_f32(node.input(0)) && !node.input(0)->known_constant()) return share_grid(node);
    if (node.outputs().size() == 1 && is_f32(node.output(0)) && !node.output(0)->constant) return add_result(node);
    for (Value* y : node.outputs())
      if (is_f32(y)) plan_.add(y);
  }

  /// The inputs that must be codes for the node to pass codes on; nothing for a node that computes in float.
  std::vector<Value*> operands(const Node& node) const {
    const NodeView v = view(node);
    if (!chosen(node, spec_)) return {};
    if (const auto scalar = scalar_operand(v))
      return is_clamped_sum(node) || !node.is("Add") ? std::vector{node.input(1 - *scalar)} : std::vector<Value*>{};
    if (combines_codes(v)) return node.inputs();
    if (moves_codes(v) || clamped_by_producer(node)) return {node.input(0)};
    return {};
  }

  /// The x + 3 of a HardSwish. Without the clamp at zero its grid would spend its codes on the way from zero to it.
  bool is_clamped_sum(const Node& node) const {
    const Value* y = node.output(0);
    return !spec_.symmetric && y->single_use() && y->uses[0].index == 0 && clamps_at_zero(view(*y->uses[0].node));
  }

  /// Walking forward: what could be codes without quantizing anything that no product needs.
  void find_possible() {
    for (const Node* node : nodes_)
      if (products_.contains(node)) possible_.insert({node->input(0), node->output(0)});
    for (const Node* node : nodes_) {
      const std::vector<Value*> from = operands(*node);
      const bool all =
          !from.empty() && std::all_of(from.begin(), from.end(), [&](const Value* v) { return possible_.contains(v); });
      if (!all || products_.contains(node)) continue;
      passing_.insert(node);
      possible_.insert(node->outputs().begin(), node->outputs().end());
    }
  }

  /// Walking backwards: what an integer node would read, directly or through others.
  void find_wanted() {
    for (auto it = nodes_.rbegin(); it != nodes_.rend(); ++it) {
      const Node& node = **it;
      if (products_.contains(&node)) {
        wanted_.insert(node.input(0));
      } else if (is_integer(node)) {
        for (const Value* v : operands(node)) wanted_.insert(v);
      }
    }
  }

  /// A node between products that passes codes on to another integer node.
  bool is_integer(const Node& node) const {
    return passing_.contains(&node) && std::any_of(node.outputs().begin(), node.outputs().end(),
                                                   [&](const Value* y) { return y && wanted_.contains(y); });
  }

  void visit(const Node& node) {
    if (products_.contains(&node)) {
      plan_.nodes.insert(&node);
      // A convolution has an integer kernel only with an integer result; a matrix product may give floats.
      if (node.is("Conv") || wanted_.contains(node.output(0)) || has_activation(node)) add_result(node);
    } else if (is_integer(node)) {
      const NodeView v = view(node);
      if (combines_codes(v)) {
        plan_.nodes.insert(&node);
        if (const auto scalar = scalar_operand(v)) plan_.scalars[&node] = *scalar;
        add_result(node);
      } else if (moves_codes(v)) {
        plan_.nodes.insert(&node);
        share_grid(node);
      }
    }
  }

  /// Runtimes make a Gemm and its activation one float node, unless the result between them is quantized.
  static bool has_activation(const Node& gemm) {
    const Value* y = gemm.output(0);
    return gemm.is("Gemm") && y->single_use() && is_activation(*y->uses[0].node);
  }

  void share_grid(const Node& node) {
    for (Value* y : node.outputs()) {
      if (!y) continue;
      plan_.shares[y] = node.input(0);
      plan_.add(y);
    }
  }

  /// Relu or Clip that alone reads the result of a product or of a combination, whose grid from 0 does the same.
  bool clamped_by_producer(const Node& node) const {
    if (spec_.symmetric || !clamps_at_zero(view(node))) return false;
    const Value* x = node.input(0);
    const Node* from = x ? x->producer : nullptr;
    return from && from->graph() == node.graph() && x->single_use() &&
           (products_.contains(from) || (combines_codes(view(*from)) && chosen(*from, spec_)));
  }

  /// The node's result, or that of the clamp that its grid replaces.
  void add_result(const Node& node) {
    Value* y = node.output(0);
    const Node* next = y->single_use() && y->uses[0].index == 0 ? y->uses[0].node : nullptr;
    if (next && next->graph() == node.graph() && clamped_by_producer(*next)) {
      plan_.clamped[next] = &node;
      plan_.add(next->output(0));
    } else {
      plan_.add(y);
    }
  }

  const Model& model_;
  const Spec& spec_;
  std::vector<Node*> nodes_;
  std::unordered_set<const Node*> products_, passing_;
  std::unordered_set<const Value*> possible_, wanted_;
  Plan plan_;
};

}  // namespace

Plan make_plan(const Model& model, const Spec& spec) { return Planner(model, spec).run(); }

}  // namespace mlopt::quantize
