#include "core/rewrite/loop_invariants.h"

#include <iterator>

#include "core/ir/constant.h"

namespace mlopt {
namespace {

/// Where the values that a Loop or Scan carries begin, and how many there are.
struct Carried {
  int input;   ///< of the node and of the body
  int result;  ///< of the body; the node's first outputs are these
  int count;
};

Carried carried_by(const NodeView& view) {
  const Node& node = view.node();
  const int inputs = static_cast<int>(node.inputs().size());
  if (node.is("Loop")) return {2, 1, inputs - 2};
  // Before opset 9 a Scan has a batch, and lengths in front of what it carries.
  if (!node.is("Scan") || view.opset() < 9) return {0, 0, 0};
  return {0, 0, inputs - static_cast<int>(view.get_int("num_scan_inputs", 0))};
}

Value* parameter(const Graph& body, const Carried& carried, int k) {
  const int at = carried.input + k;
  return body.inputs()[static_cast<size_t>(at)];
}

Value* result(const Graph& body, const Carried& carried, int k) {
  const int at = carried.result + k;
  return body.outputs()[static_cast<size_t>(at)];
}

/// Is carried value k the one that the node was given, in every iteration?
bool is_invariant(const Node& node, const Graph& body, const Carried& carried, int k) {
  const Value* given = node.input(carried.input + k);
  const Value *v = parameter(body, carried, k), *y = result(body, carried, k);
  if (!given || before_identities(y) != v || v->output_uses != (y == v)) return false;
  const Value* last = node.output(k);
  // What is read by its name is to be the one outside; and an output has to be made by its own graph.
  return body.lookup(given->name) == given && !(last && last->is_output());
}

void free_from_loop(Node* node, Graph& body, const Carried& carried, int k) {
  Graph& graph = *node->graph();
  Value* given = node->input(carried.input + k);
  Value* v = parameter(body, carried, k);
  body.remove_output(carried.result + k);
  body.replace_uses(v, given);
  body.remove_input(carried.input + k);
  body.erase(v);
  if (Value* last = node->output(k)) graph.replace_uses(last, given);
  graph.remove_output(node, k);
  graph.remove_input(node, carried.input + k);
}

bool fits(const Node& node, const Graph& body, const Carried& carried) {
  const int wanted = carried.input + carried.count, results = carried.result + carried.count;
  return carried.count > 0 && std::ssize(node.inputs()) >= wanted && std::ssize(body.inputs()) >= wanted &&
         std::ssize(body.outputs()) >= results;
}

void run(Model& model, const PassContext& context, PassTally& tally) {
  for (Node* node : all_nodes(*model.graph)) {
    const Carried carried = carried_by({*node, model.opset()});
    const std::vector<Graph*> bodies = node->bodies();
    if (bodies.size() != 1 || !fits(*node, *bodies[0], carried) || !context.allows(*node)) continue;
    for (int k = carried.count - 1; k >= 0; --k) {
      // An operator that gives nothing is not written.
      if (node->outputs().size() <= 1 && node->output(k)) continue;
      if (!is_invariant(*node, *bodies[0], carried, k)) continue;
      free_from_loop(node, *bodies[0], carried, k);
      ++tally.applied;
    }
  }
}

}  // namespace

const Pass loop_invariants = {"loop_invariants", "what a Loop or Scan only passes on, as values from outside", nullptr,
                              run};

}  // namespace mlopt
