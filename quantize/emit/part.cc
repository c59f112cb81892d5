#include "quantize/emit/part.h"

namespace mlopt::quantize {

void part(Graph& graph, Use reader) {
  Value* y = reader.node->input(reader.index);
  Node* kept = graph.add_op("LeakyRelu", {y}, {{"alpha", 1.0f, {}}}, reader.node, y->name + "_kept");
  kept->name = kept->output(0)->name;
  kept->output(0)->type = y->type;
  graph.set_input(reader.node, reader.index, kept->output(0));
}

}  // namespace mlopt::quantize
