#include "quantize/emit/keep_float.h"

#include "quantize/emit/part.h"

namespace mlopt::quantize {
namespace {

bool is_float_product(const Node& node) {
  if (!node.is("Conv") && !node.is("ConvTranspose") && !node.is("Gemm")) return false;
  const Value *x = node.input(0), *w = node.input(1);
  return x && x->producer && x->producer->is("DequantizeLinear") && w && w->known_constant();
}

/// Is the value, or what a clamp makes of it, quantized and nothing else? The runtime drops such a clamp.
bool is_only_quantized(const Value& y) {
  if (!y.single_use()) return false;
  const Node& reader = *y.uses[0].node;
  if (reader.is("QuantizeLinear")) return true;
  return (reader.is("Relu") || reader.is("Clip")) && y.uses[0].index == 0 && is_only_quantized(*reader.output(0));
}

}  // namespace

void keep_float(Model& model) {
  Graph& graph = *model.graph;
  const std::vector<Node*> nodes = graph.nodes();
  for (const Node* node : nodes) {
    if (!is_float_product(*node) || !is_only_quantized(*node->output(0))) continue;
    part(graph, node->output(0)->uses[0]);
  }
}

}  // namespace mlopt::quantize
