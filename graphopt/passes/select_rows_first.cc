// Gather(f(x), i) and Slice(f(x), i : i + 1) -> f(Gather(x, i)) for all that works row by row: the last block of a
// transformer whose first token alone is classified multiplies one row of each sample instead of all.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "graphopt/passes.h"
#include "graphopt/passes/row_by_row.h"
#include "graphopt/passes/slicing.h"
#include "graphopt/passes/support.h"

namespace mlopt::graphopt {
namespace {

/// One row of one axis; the axis stays, as one of length 1, or goes.
struct Row {
  Node* root = nullptr;
  Value* of = nullptr;
  size_t axis = 0;
  bool stays = false;
};

using Axes = std::unordered_map<Value*, size_t>;
using Places = std::unordered_map<const Node*, size_t>;

/// What is computed of one row alone, and of which values the row is taken for that.
struct Plan {
  std::unordered_set<const Node*> nodes;
  Axes sources;
  std::unordered_set<const Value*> whole;  ///< read whole by these nodes
  int products = 0, norms = 0;

  /// Taking a second row is worth it where that saves two products, and as many as are saved without.
  bool pays() const { return rows() <= (products > 1 ? 2 : 1) && products + norms > 0; }
  bool better_than(const Plan& other) const {
    return rows() <= other.rows() ? products >= other.products : products > 0 && products >= 2 * other.products;
  }
  /// Rows that are taken when the graph runs.
  int64_t rows() const {
    return std::count_if(sources.begin(), sources.end(), [](const auto& s) { return !s.first->known_constant(); });
  }
};

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

/// The inputs of which `node` needs that row alone to give it, and the axis in each; nothing where it needs others too.
std::optional<Axes> needs(const Node& node, size_t axis, bool stays, const Builder& builder) {
  const Value *y = node.output(0), *x = node.input(0);
  if (node.outputs().size() != 1 || !y->type.dims || !x || !x->type.dims || builder.opset() < 7) return std::nullopt;
  const size_t rank = y->type.dims->size();
  if (node.is("MatMul")) {
    const auto& w = node.input(1)->type.dims;
    const bool rows = w && w->size() == 2 && x->type.dims->size() == rank && axis + 1 < rank && (stays || rank > 2);
    return rows ? std::optional(Axes{{node.input(0), axis}}) : std::nullopt;
  }
  if (node.is("LayerNormalization") || node.is("RMSNormalization") || node.is("SimplifiedLayerNormalization")) {
    const int64_t from = builder.view(node).get_int("axis", -1);
    const bool rows = from < 0 && static_cast<int64_t>(axis) < from + static_cast<int64_t>(rank);
    return rows ? std::optional(Axes{{node.input(0), axis}}) : std::nullopt;
  }
  if (!is_elementwise(node)) return std::nullopt;
  Axes all;
  for (Value* input : node.inputs()) {
    if (!input) continue;
    if (!input->type.dims || input->type.dims->size() > rank) return std::nullopt;
    const size_t missing = rank - input->type.dims->size();
    if (axis < missing) continue;
    const Dim& length = (*input->type.dims)[axis - missing];
    if (length.is(1) && stays) continue;
    if (!(length == (*y->type.dims)[axis])) return std::nullopt;
    all[input] = axis - missing;
  }
  return all;
}

/// Does nothing but the plan and the root read v?
bool read_within(const Value& v, const Plan& plan, const Node* root) {
  return !v.is_output() && std::all_of(v.uses.begin(), v.uses.end(), [&](const Use& use) {
    return use.node == root || plan.nodes.contains(use.node);
  });
}

/// Adds the last node of the graph that can be: whatever reads what it gives has been added before it.
bool grow(Plan& plan, const Row& row, const Places& place, const PassContext& context, const Builder& builder) {
  const Node* last = nullptr;
  std::optional<Axes> found;
  for (const auto& [v, axis] : plan.sources) {
    if (!v->producer || v->graph != row.of->graph || !read_within(*v, plan, row.root)) continue;
    if (plan.whole.contains(v) || !context.allows(*v->producer)) continue;
    if (last && place.at(v->producer) < place.at(last)) continue;
    auto inputs = needs(*v->producer, axis, row.stays, builder);
    const bool clash = inputs && std::any_of(inputs->begin(), inputs->end(), [&](const auto& input) {
                         const auto other = plan.sources.find(input.first);
                         return other != plan.sources.end() && other->second != input.second;
                       });
    if (inputs && !clash) last = v->producer, found = std::move(inputs);
  }
  if (!last) return false;
  plan.sources.erase(last->output(0));
  for (const auto& [input, axis] : *found) plan.sources[input] = axis;
  for (Value* input : last->inputs())
    if (input && !plan.sources.contains(input)) plan.whole.insert(input);
  plan.nodes.insert(last);
  plan.products += last->is("MatMul");
  plan.norms += last->op.ends_with("Normalization");
  return true;
}

Plan plan_of(const Row& row, const Places& place, const PassContext& context, const Builder& builder) {
  Plan plan, best;
  plan.sources[row.of] = row.axis;
  while (grow(plan, row, place, context, builder))
    if (plan.pays() && (best.nodes.empty() || plan.better_than(best))) best = plan;
  return best;
}

Value* taken(const Row& row, Value* source, size_t axis, Builder& builder) {
  std::vector<Value*> inputs = row.root->inputs();
  inputs[0] = source;
  if (row.root->is("Gather"))
    return builder.op("Gather", std::move(inputs), {{"axis", static_cast<int64_t>(axis), {}}});
  auto part = *Slicing::of(builder.view(*row.root));
  part.axes = {static_cast<int64_t>(axis)};
  return part.make(builder, source, {});
}

void rewrite(const Row& row, const Plan& plan, const std::vector<Node*>& nodes, Builder& builder) {
  std::unordered_map<const Value*, Value*> made;
  std::vector<Node*> inner;
  for (Node* node : nodes)
    if (plan.nodes.contains(node)) inner.push_back(node);
  const auto input_of = [&](Value* v) {
    if (const auto found = made.find(v); found != made.end()) return found->second;
    const auto source = plan.sources.find(v);
    return source == plan.sources.end() ? v : made[v] = taken(row, v, source->second, builder);
  };
  for (const Node* node : inner) {
    std::vector<Value*> inputs;
    for (Value* input : node->inputs()) inputs.push_back(input ? input_of(input) : nullptr);
    Value* y = node->domain.empty() ? builder.op(node->op, std::move(inputs), node->attrs)
                                    : builder.contrib(node->op, std::move(inputs), node->attrs);
    y->producer->name = node->name;
    y->producer->origins.push_back(node->label());
    made[node->output(0)] = y;
  }
  Value* result = made.at(row.of);
  result->type = row.root->output(0)->type;
  builder.graph.replace_uses(row.root->output(0), result);
  builder.graph.erase(row.root);
  for (auto node = inner.rbegin(); node != inner.rend(); ++node) builder.graph.erase(*node);
}

bool rewrite_one(Graph& graph, const Model& model, const PassContext& context) {
  const std::vector<Node*> nodes = graph.nodes();
  Places place;
  for (size_t i = 0; i < nodes.size(); ++i) place[nodes[i]] = i;
  for (Node* node : nodes) {
    const auto row = row_of(node, model);
    if (!row || !context.allows(*node)) continue;
    Builder builder(model, graph, node, context.target);
    const Plan plan = plan_of(*row, place, context, builder);
    if (plan.nodes.empty()) continue;
    rewrite(*row, plan, nodes, builder);
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
