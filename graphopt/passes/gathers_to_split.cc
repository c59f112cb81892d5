// TakenRows that are taken one by one from a value that Reshape and Transpose made, as queries, keys and values of one
// product are -> one Split of what the Reshape had, and of each part what is left of Reshape and Transpose.
#include <algorithm>

#include "core/rewrite/axis_map.h"
#include "core/rewrite/rule_walk.h"
#include "graphopt/passes.h"
#include "graphopt/passes/reduction.h"
#include "graphopt/passes/slicing.h"
#include "graphopt/passes/support.h"
#include "graphopt/passes/taken_rows.h"

namespace mlopt::graphopt {
namespace {

/// The row without the axis that a Squeeze, which alone reads it, takes away, or the row that a Reshape alone reads;
/// null for other uses.
Value* squeezed(Value* row, size_t axis, int64_t opset) {
  Node* node = row && row->single_use() ? row->uses[0].node : nullptr;
  if (!node || node->graph() != row->graph || !row->type.dims || !node->output(0)) return nullptr;
  if (!node->output(0)->type.dims) return nullptr;
  SymDims left = *row->type.dims;
  if (axis >= left.size() || !left[axis].is(1)) return nullptr;
  if (node->is("Reshape") && opset >= 5) return row;
  if (!node->is("Squeeze")) return nullptr;
  left.erase(left.begin() + static_cast<std::ptrdiff_t>(axis));
  const auto axes = NodeView(*node, opset).ints("axes", 1);
  const bool fits = axes && axes->size() == 1 && place_in(axes->front(), left.size() + 1) == axis;
  return fits && *node->output(0)->type.dims == left ? node->output(0) : nullptr;
}

/// Every row once, by a Split into single rows and a Squeeze of each.
std::optional<TakenRows> unbound(const Value& y, int64_t opset) {
  const Node* split = y.single_use() && y.uses[0].node->is("Split") && y.uses[0].index == 0 ? y.uses[0].node : nullptr;
  if (!split || split->graph() != y.graph) return std::nullopt;
  const auto axis = place_in(NodeView(*split, opset).get_int("axis", 0), y.type.dims->size());
  if (!axis || !(*y.type.dims)[*axis].is(static_cast<int64_t>(split->outputs().size()))) return std::nullopt;
  TakenRows rows{*axis, {}, 1 + static_cast<int64_t>(split->outputs().size())};
  for (Value* row : split->outputs()) {
    Value* value = squeezed(row, *axis, opset);
    if (!value) return std::nullopt;
    rows.values.push_back(value);
  }
  return rows;
}

/// Every row once, by a Slice of one row and a Squeeze of each.
std::optional<TakenRows> sliced(const Value& y, int64_t opset) {
  const size_t count = y.uses.size();
  TakenRows rows{0, std::vector<Value*>(count, nullptr), 2 * static_cast<int64_t>(count)};
  for (size_t i = 0; i < count; ++i) {
    const Node* slice = y.uses[i].node;
    if (!slice->is("Slice") || y.uses[i].index != 0 || slice->graph() != y.graph) return std::nullopt;
    const auto slicing = Slicing::of({*slice, opset});
    if (!slicing || slicing->axes.size() != 1 || slicing->steps[0] != 1) return std::nullopt;
    const auto axis = place_in(slicing->axes[0], y.type.dims->size()), place = place_in(slicing->starts[0], count);
    if (!axis || !place || (i > 0 && *axis != rows.axis) || rows.values[*place]) return std::nullopt;
    rows.axis = *axis;
    rows.values[*place] = squeezed(slice->output(0), *axis, opset);
    if (!rows.values[*place] || !(*y.type.dims)[*axis].is(static_cast<int64_t>(count))) return std::nullopt;
  }
  return rows;
}

/// Where attention is one operator, it is found behind parts of one product.
bool finds_attention(const Builder& builder) { return builder.target == Target::kOrt || builder.has(23); }

std::vector<Value*> split_in(Builder& builder, const Node* before, Value* x, size_t axis, size_t count) {
  const Dim length = *Dim::divide((*x->type.dims)[axis], static_cast<int64_t>(count));
  const std::vector<int64_t> sizes(count, *length.value());
  return make_split(builder.at(before), x, axis, sizes)->outputs();
}

/// Puts a part in the place of a row, which keeps its axis where it had that; the next pass merges the operators.
void replace_row(Value* row, Value* part, const TakenRows& rows, bool has_axis, Builder& builder) {
  if (has_axis) part = make_squeeze(builder, "Unsqueeze", part, {static_cast<int64_t>(rows.axis)}, row->type);
  part->producer->origins.push_back(row->producer->label());
  builder.graph.replace_uses(row, part);
  Node* node = row->producer;
  if (has_no_effect(*node)) builder.graph.erase(node);
}

bool rewrite(Value& y, const TakenRows& rows, Builder& builder) {
  const std::vector<const Node*> chain = layout_chain(y.producer);
  Value* source = chain.front()->input(0);
  if (!source->type.dims) return false;
  AxisMap map(*source->type.dims);
  if (!map.apply(chain, builder)) return false;
  const size_t count = rows.values.size(), rank = y.type.dims->size();
  const auto axis = map.take_piece(rows.axis);
  if (!axis || !Dim::divide((*source->type.dims)[*axis], static_cast<int64_t>(count))->value()) return false;
  const int64_t now = static_cast<int64_t>(chain.size()) + rows.steps,
                then = 1 + static_cast<int64_t>(count) * map.cost();
  if (then >= now && !finds_attention(builder)) return false;
  if (!map.writable()) return false;
  for (size_t i = 0; i < count; ++i) {
    if (!rows.values[i]->type.dims) return false;
    SymDims dims = *rows.values[i]->type.dims;
    if (rows.has_axis(i, rank)) dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(rows.axis));
    if (dims != map.dims()) return false;
  }
  const std::vector<Value*> parts = split_in(builder, y.producer, source, *axis, count);
  for (size_t i = 0; i < count; ++i) {
    Value* row = rows.values[i];
    replace_row(row, map.make(builder, parts[i], Type::tensor(row->type.dtype, map.dims())), rows,
                rows.has_axis(i, rank), builder);
  }
  return true;
}

/// The first that can be.
bool replace_one(Graph& graph, const Model& model, const PassContext& context) {
  for (Node* node : graph.nodes()) {
    if (!is_layout(node) || !node->output(0) || !context.allows(*node)) continue;
    Value& y = *node->output(0);
    if (!y.type.dims || y.is_output() || y.uses.empty()) continue;
    auto rows = gathered(y, model.opset());
    if (!rows) rows = unbound(y, model.opset());
    if (!rows) rows = sliced(y, model.opset());
    if (!rows || rows->values.size() < 2) continue;
    const bool outputs =
        std::any_of(rows->values.begin(), rows->values.end(), [](const Value* v) { return v->is_output(); });
    Builder builder(model, graph, node, context.target);
    if (!outputs && rewrite(y, *rows, builder)) return true;
  }
  return false;
}

void run(Model& model, const PassContext& context, PassTally& tally) {
  if (model.opset() < 2) return;
  rewrite_one_by_one(
      *model.graph, [&](Graph& graph) { return replace_one(graph, model, context); }, tally);
}

}  // namespace

const Pass gathers_to_split = {"gathers_to_split",
                               "take queries, keys and values of one product apart by one Split before their axes move",
                               nullptr, run};

}  // namespace mlopt::graphopt
