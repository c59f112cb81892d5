#include "core/calib/handed_in.h"

#include <algorithm>

#include "core/ir/view.h"

namespace mlopt {
namespace {

/// What the value is but for Identity and Transpose.
const Value* origin(const Value* v) {
  while (v && !v->constant && v->producer && (v->producer->is("Identity") || v->producer->is("Transpose")))
    v = v->producer->input(0);
  return v;
}

bool is_kept(const Value& state, const Value* next) {
  while (next != &state && next && next->producer && next->producer->is("Identity")) next = next->producer->input(0);
  return next == &state;
}

}  // namespace

const Node* handed_in(const Value& value) {
  const Value* v = origin(&value);
  if (!v || !v->graph->owner || !v->is_input) return nullptr;
  const Graph& body = *v->graph;
  const Node& node = *body.owner;
  const auto place =
      static_cast<size_t>(std::find(body.inputs().begin(), body.inputs().end(), v) - body.inputs().begin());
  if (node.inputs().size() != body.inputs().size()) return nullptr;  // If, and the Scan of opset 8
  const Value* given = origin(node.inputs()[place]);
  if (!given || !given->constant) return nullptr;
  if (node.is("Loop")) return place >= 2 && is_kept(*v, body.outputs()[place - 1]) ? &node : nullptr;
  if (!node.is("Scan")) return nullptr;
  const auto states = body.inputs().size() - static_cast<size_t>(NodeView(node, 0).get_int("num_scan_inputs", 0));
  return place >= states || is_kept(*v, body.outputs()[place]) ? &node : nullptr;
}

}  // namespace mlopt
