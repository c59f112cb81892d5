#include "core/rewrite/carried.h"

#include <iterator>

namespace mlopt {

Value* Carried::parameter(const Graph& body, int k) const {
  const int at = input + k;
  return body.inputs()[static_cast<size_t>(at)];
}

Value* Carried::made(const Graph& body, int k) const {
  const int at = result + k;
  return body.outputs()[static_cast<size_t>(at)];
}

Carried carried_by(const NodeView& view) {
  const Node& node = view.node();
  const std::vector<Graph*> bodies = node.bodies();
  if (bodies.size() != 1) return {};
  const int inputs = static_cast<int>(node.inputs().size());
  Carried carried;
  if (node.is("Loop"))
    carried = {2, 1, inputs - 2};
  else if (node.is("Scan") && view.opset() >= 9)  // before it has a batch, and lengths in front of what it carries
    carried = {0, 0, inputs - static_cast<int>(view.get_int("num_scan_inputs", 0))};
  const Graph& body = *bodies[0];
  const bool fits = carried.count > 0 && std::ssize(body.inputs()) >= carried.input + carried.count &&
                    std::ssize(body.outputs()) >= carried.result + carried.count;
  return fits ? carried : Carried();
}

void drop_carried(Node* node, const Carried& carried, int k, Value* inside, Value* outside) {
  Graph &graph = *node->graph(), &body = *node->bodies()[0];
  Value* v = carried.parameter(body, k);
  body.remove_output(carried.result + k);
  body.replace_uses(v, inside);
  body.remove_input(carried.input + k);
  body.erase(v);
  if (Value* last = node->output(k); last && outside) graph.replace_uses(last, outside);
  graph.remove_output(node, k);
  graph.remove_input(node, carried.input + k);
}

}  // namespace mlopt
