#include "prune/structure/twins.h"

namespace mlopt::prune {
namespace {

void pair_up(const Graph& graph, const Graph& copy, Twins& twins) {
  for (const Value* v : graph.values()) twins.values[v] = copy.find(v->name);
  const std::vector<Node*> nodes = graph.nodes(), copies = copy.nodes();
  for (size_t i = 0; i < nodes.size(); ++i) {
    twins.nodes[nodes[i]] = copies[i];
    const std::vector<Graph*> bodies = nodes[i]->bodies(), bodies_of_copy = copies[i]->bodies();
    for (size_t k = 0; k < bodies.size(); ++k) pair_up(*bodies[k], *bodies_of_copy[k], twins);
  }
}

}  // namespace

Twins find_twins(const Graph& graph, const Graph& copy) {
  Twins twins;
  pair_up(graph, copy, twins);
  return twins;
}

}  // namespace mlopt::prune
