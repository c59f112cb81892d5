#include "core/rewrite/cast_output.h"

namespace mlopt {

void cast_output(Graph& graph, Value* output, const Type& declared, const std::string& hint) {
  const std::vector<Use> readers = output->uses;
  const Type inner = output->type;
  Node* cast =
      graph.add_op("Cast", {output}, {{"to", int64_t{static_cast<int64_t>(declared.dtype)}, {}}}, nullptr, hint);
  output->type = declared;  // what the output's new producer takes over
  graph.replace_uses(output, cast->output(0));
  output->type = inner;
  graph.set_input(cast, 0, output);
  for (const Use& use : readers) use.node->graph()->set_input(use.node, use.index, output);
}

}  // namespace mlopt
