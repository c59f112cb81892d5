// Gather(f(x), i) and Slice(f(x), i : i + 1) -> f(Gather(x, i)) for all that works row by row: the last block of a
// transformer whose first token alone is classified multiplies one row of each sample instead of all.
#include "core/rewrite/split_attention.h"
#include "graphopt/passes.h"
#include "graphopt/passes/part_product.h"
#include "graphopt/passes/reduction.h"
#include "graphopt/passes/row_plan.h"
#include "graphopt/passes/slicing.h"
#include "graphopt/passes/support.h"

namespace mlopt::graphopt {
namespace {

std::optional<Row> row_of(Node* node, const Model& model) {
  const NodeView view(*node, model.opset());
  Value* x = node->is("Gather") || node->is("Slice") ? node->input(0) : nullptr;
  if (!x || !x->type.dims || !is_float(x->type.dtype) || x->graph != node->graph() || !node->output(0))
    return std::nullopt;
  const auto rank = static_cast<int64_t>(x->type.dims->size());
  Row row{node, x};
  int64_t axis = 0;
  if (node->is("Gather")) {
    const Tensor* index = node->input(1)->known_constant();
    if (!index || index->size() != 1 || index->rank() > 1) return std::nullopt;
    axis = view.get_int("axis", 0);
    row.stays = index->rank() == 1;
  } else {
    const auto part = Slicing::of(view);
    if (!part || part->axes.size() != 1) return std::nullopt;
    axis = part->axes[0];
    row.stays = true;
  }
  axis += axis < 0 ? rank : 0;
  if (axis < 0 || axis >= rank) return std::nullopt;
  row.axis = static_cast<size_t>(axis);
  const auto& dims = node->output(0)->type.dims;
  const bool one = !row.stays || (dims && dims->size() == x->type.dims->size() && (*dims)[row.axis].is(1));
  return one ? std::optional(row) : std::nullopt;
}

/// The same row of an axis that stays, which a Squeeze takes away in the end: heads of attention need it.
Row staying(Row row) {
  row.stays = true;
  return row;
}
/// Does the root take the axis away?
bool ends(const Row& row, const NodeView& view) {
  return view.node().is("Gather") && row.stays && view.node().input(1)->known_constant()->rank() == 0;
}

Value* taken(const Row& row, Value* source, size_t axis, Builder& builder) {
  const NodeView view = builder.view(*row.root);
  if (row.root->is("Gather")) {
    Value* index = row.root->input(1);
    if (ends(row, view)) index = builder.constant(index->name + "_list", index->known_constant()->reshaped({1}));
    return builder.op("Gather", {source, index}, {{"axis", static_cast<int64_t>(axis), {}}});
  }
  auto part = *Slicing::of(view);
  part.axes = {static_cast<int64_t>(axis)};
  return part.make(builder, source, {});
}

/// The node once more, for that row.
Value* remade(const Node& node, const RowPlan::Step& step, std::vector<Value*> inputs, Builder& builder) {
  if (node.is("Reshape")) inputs[1] = shape_of_row(node, step.axis, builder);
  Value* y = node.domain.empty() ? builder.op(node.op, std::move(inputs), node.attrs)
                                 : builder.contrib(node.op, std::move(inputs), node.attrs);
  y->producer->name = node.name;
  y->producer->origins.push_back(node.label());
  return y;
}

void rewrite(const Row& row, const RowPlan& plan, const std::vector<Node*>& nodes, Builder& builder) {
  std::unordered_map<const Value*, Value*> made;
  std::vector<Node*> inner;
  for (Node* node : nodes)
    if (plan.steps.contains(node)) inner.push_back(node);
  for (const Node* node : inner) {
    const RowPlan::Step& step = plan.steps.at(node);
    std::vector<Value*> inputs = node->inputs();
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (!step.rows[i]) continue;
      Value*& one = made[inputs[i]];
      if (!one) one = taken(row, inputs[i], *step.rows[i], builder);
      inputs[i] = one;
    }
    made[node->output(0)] = remade(*node, step, std::move(inputs), builder);
  }
  Value* result = made.at(row.of);
  if (ends(row, builder.view(*row.root)))
    result = make_squeeze(builder, "Squeeze", result, {static_cast<int64_t>(row.axis)});
  result->type = row.root->output(0)->type;
  builder.graph.replace_uses(row.root->output(0), result);
  builder.graph.erase(row.root);
  for (auto node = inner.rbegin(); node != inner.rend(); ++node) builder.graph.erase(*node);
}

/// What makes the part, so that a plan can go on there.
void take_apart(const Value& part, const Model& model, Graph& graph, const PassContext& context) {
  Builder builder(model, graph, part.producer, context.target);
  if (const auto joined = joined_product(part, builder)) return part_product(*joined, builder);
  const NodeView attention = builder.view(*part.producer);
  graph.replace_uses(attention.node().output(0), split_attention(attention, *columns_of_parts(attention), builder));
  graph.erase(part.producer);
}

bool rewrite_one(Graph& graph, const Model& model, const PassContext& context) {
  const std::vector<Node*> nodes = graph.nodes();
  std::unordered_map<const Node*, size_t> place;
  for (size_t i = 0; i < nodes.size(); ++i) place[nodes[i]] = i;
  for (Node* node : nodes) {
    auto row = row_of(node, model);
    if (!row || !context.allows(*node)) continue;
    Builder builder(model, graph, node, context.target);
    RowPlan plan = plan_of(*row, place, context, builder);
    if (plan.steps.empty() && !row->stays) plan = plan_of(*(row = staying(*row)), place, context, builder);
    if (plan.steps.empty()) continue;
    if (plan.parts.empty())
      rewrite(*row, plan, nodes, builder);
    else
      take_apart(*plan.parts.front(), model, graph, context);
    return true;
  }
  return false;
}

void run(Model& model, const PassContext& context, PassTally& tally) {
  rewrite_one_by_one(
      *model.graph, [&](Graph& graph) { return rewrite_one(graph, model, context); }, tally);
}

}  // namespace

const Pass select_rows_first = {"select_rows_first",
                                "take the one row that is needed before what is computed row by row", nullptr, run};

}  // namespace mlopt::graphopt
