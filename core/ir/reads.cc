#include "core/ir/reads.h"

namespace mlopt {

std::vector<const Value*> read_by(const Node& node) {
  std::vector<const Value*> values;
  for (const Value* v : node.inputs())
    if (v) values.push_back(v);
  for (const Graph* body : node.bodies())
    for (const Value* v : captures(*body)) values.push_back(v);
  return values;
}

const Node* outermost(const Node* node) {
  while (node->graph()->owner) node = node->graph()->owner;
  return node;
}

}  // namespace mlopt
