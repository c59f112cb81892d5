#include "graphopt/passes/row_plan.h"

#include <algorithm>

#include "core/rewrite/split_attention.h"
#include "graphopt/passes/part_product.h"

namespace mlopt::graphopt {
namespace {

using Places = std::unordered_map<const Node*, size_t>;

/// Does nothing but the plan and the root read v?
bool read_within(const Value& v, const RowPlan& plan, const Node* root) {
  return !v.is_output() && std::all_of(v.uses.begin(), v.uses.end(), [&](const Use& use) {
    return use.node == root || plan.steps.contains(use.node);
  });
}

using Needs = std::vector<std::pair<Value*, size_t>>;

/// Is the row of one of them already taken along another axis?
bool clash(const RowPlan& plan, const Needs& needs) {
  return std::any_of(needs.begin(), needs.end(), [&](const auto& need) {
    const auto other = plan.sources.find(need.first);
    return other != plan.sources.end() && other->second != need.second;
  });
}

Needs needs_of(const Node& node, const RowOfInput& rows) {
  Needs needs;
  for (size_t i = 0; i < rows.size(); ++i)
    if (rows[i]) needs.emplace_back(node.inputs()[i], *rows[i]);
  return needs;
}

/// Counts what is saved; the two products of attention where its scores are reached, so that no plan ends within it.
void count(RowPlan& plan, const Node& node) {
  const bool weighted = node.is("MatMul") && node.input(1)->type.dims->size() == 2;
  const bool scores = node.is("MatMul") && !weighted && plan.softmaxes > 0;
  if (weighted) ++plan.products;
  if (scores || node.op.ends_with("Attention")) plan.products += 2;
  if (node.is("Softmax")) ++plan.softmaxes;
  if (scores) --plan.softmaxes;
  if (node.op.ends_with("Normalization")) ++plan.norms;
}

void add(RowPlan& plan, const Node& node, RowPlan::Step step) {
  plan.sources.erase(node.output(0));
  for (const auto& [input, axis] : needs_of(node, step.rows)) plan.sources[input] = axis;
  for (size_t i = 0; i < step.rows.size(); ++i)
    if (!step.rows[i] && node.inputs()[i]) plan.whole.insert(node.inputs()[i]);
  count(plan, node);
  plan.steps.emplace(&node, std::move(step));
}

/// Needed of what makes a part, once that is by itself; empty where it cannot be.
Needs needs_of_part(const Value& part, size_t axis, bool stays, const Builder& builder) {
  if (const auto joined = joined_product(part, builder); joined && axis + 1 < part.type.dims->size())
    return {{joined->product.x, axis}};
  enum { kX, kWeights, kScores = 5 };
  const Node* node = part.producer;
  if (!stays || axis != 1 || !node->is("Attention", "com.microsoft") || !node->input(kX)) return {};
  const NodeView attention = builder.view(*node);
  Value* scores = node->input(kScores);
  if (attention.get_int("unidirectional", 0) != 0 || !columns_of_parts(attention)) return {};
  if (!node->input(kWeights)->single_use()) return {};
  if (scores && (!scores->type.dims || scores->type.dims->size() != 4)) return {};
  Needs needs{{node->input(kX), axis}};
  const Dim rows = scores ? (*scores->type.dims)[2] : Dim(1);
  if (!rows.is(1) && !(rows == (*part.type.dims)[axis])) return {};
  if (!rows.is(1)) needs.emplace_back(scores, 2);
  return needs;
}

void add_part(RowPlan& plan, Value* part, const Needs& needs) {
  plan.sources.erase(part);
  for (const auto& [value, axis] : needs) plan.sources[value] = axis;
  plan.parts.push_back(part);
  plan.products += part->producer->is("Split") ? 1 : 3;
}

bool can_be_added(const Value& v, const RowPlan& plan, const Row& row, const PassContext& context) {
  return v.producer && v.graph == row.of->graph && read_within(v, plan, row.root) && !plan.whole.contains(&v) &&
         context.allows(*v.producer);
}

/// Adds the last node of the graph that can be: whatever reads what it gives has been added before it.
bool grow(RowPlan& plan, const Row& row, const Places& place, const PassContext& context, const Builder& builder) {
  const auto order = [&](const Value& v) { return std::pair(place.at(v.producer), v.output_index); };
  Value* last = nullptr;
  std::optional<RowOfInput> rows;
  Needs needs;
  for (const auto& [v, axis] : plan.sources) {
    if (!can_be_added(*v, plan, row, context)) continue;
    if (last && order(*v) < order(*last)) continue;
    auto found = rows_needed(*v->producer, axis, row.stays, builder);
    Needs wanted = found ? needs_of(*v->producer, *found) : needs_of_part(*v, axis, row.stays, builder);
    if ((found || !wanted.empty()) && !clash(plan, wanted))
      last = v, rows = std::move(found), needs = std::move(wanted);
  }
  if (!last) return false;
  if (rows)
    add(plan, *last->producer, {plan.sources.at(last), std::move(*rows)});
  else
    add_part(plan, last, needs);
  return true;
}

}  // namespace

int64_t RowPlan::rows() const {
  return std::count_if(sources.begin(), sources.end(), [](const auto& s) { return !s.first->known_constant(); });
}

RowPlan plan_of(const Row& row, const Places& place, const PassContext& context, const Builder& builder) {
  RowPlan plan, best;
  plan.sources[row.of] = row.axis;
  while (grow(plan, row, place, context, builder))
    if (plan.pays() && (best.steps.empty() || plan.better_than(best))) best = plan;
  return best;
}

}  // namespace mlopt::graphopt
