#include <functional>
#include <queue>
#include <unordered_map>

#include "core/base/error.h"
#include "core/ir/graph.h"

namespace mlopt {
namespace {

/// Calls `see` for every value that `node` reads, its bodies included.
void for_each_read(const Node& node, const std::function<void(const Value*)>& see) {
  for (const Value* value : node.inputs()) see(value);
  for (const Graph* body : node.bodies()) {
    for (const Value* value : body->outputs()) see(value);
    for (const Node* inner : body->nodes()) for_each_read(*inner, see);
  }
}

}  // namespace

void Graph::sort() {
  // Kahn's algorithm; of the nodes that are ready the one that stood first goes first, so that what is in order stays.
  const std::vector<Node*> before = nodes();
  std::unordered_map<const Node*, size_t> place;
  for (size_t i = 0; i < before.size(); ++i) place[before[i]] = i;
  std::vector<std::vector<size_t>> readers(before.size());
  std::vector<size_t> missing(before.size());
  for (size_t i = 0; i < before.size(); ++i) {
    for_each_read(*before[i], [&](const Value* value) {
      if (!value || value->graph != this || !value->producer) return;
      readers[place.at(value->producer)].push_back(i);
      ++missing[i];
    });
  }
  std::priority_queue<size_t, std::vector<size_t>, std::greater<>> ready;
  for (size_t i = 0; i < before.size(); ++i)
    if (missing[i] == 0) ready.push(i);
  std::list<std::unique_ptr<Node>> sorted;
  while (!ready.empty()) {
    const size_t next = ready.top();
    ready.pop();
    sorted.splice(sorted.end(), nodes_, before[next]->place_);
    for (const size_t reader : readers[next])
      if (--missing[reader] == 0) ready.push(reader);
  }
  if (!nodes_.empty()) {
    const std::string stuck = nodes_.front()->label();
    nodes_.splice(nodes_.begin(), sorted);
    input_error("the graph has a cycle", stuck, "the model is damaged: export it again");
  }
  nodes_ = std::move(sorted);
}

}  // namespace mlopt
