#include "prune/dropouts/noisy_layer.h"

#include <optional>

namespace mlopt::prune {
namespace {

constexpr double kTiny = 1e-8;  // under a root, whose slope at 0 is infinite

/// Which input is multiplied by the weight; nothing where what is given is no plain sum of products.
std::optional<int> factor_of(const Graph& graph, const Use& reader) {
  const Node& node = *reader.node;
  if (node.graph() != &graph) return std::nullopt;
  if ((node.is("Conv") || node.is("ConvTranspose")) && reader.index == 1) return 0;
  if ((node.is("Gemm") || node.is("MatMul")) && reader.index < 2) return 1 - reader.index;
  return std::nullopt;
}

/// The variance of what the layer gives.
Value* variance_of(train::Builder& b, const Use& reader, int factor, Value* variance) {
  const Node& node = *reader.node;
  std::vector<Value*> inputs(2);
  Value* x = node.input(factor);
  inputs[static_cast<size_t>(reader.index)] = variance;
  inputs[static_cast<size_t>(factor)] = b.op("Mul", {x, x});
  std::vector<Attr> attrs = node.attrs;
  for (Attr& attr : attrs)
    if (attr.name == "alpha") attr.value = std::get<float>(attr.value) * std::get<float>(attr.value);
  return b.op(node.op, inputs, std::move(attrs));
}

}  // namespace

void add_noise_of(train::Builder& b, const Use& reader, Value* variance, Value* loud, Chance& chance) {
  const auto deviation = [&](Value* of) {
    return b.op("Mul", {b.op("Sqrt", {b.op("Add", {of, b.number(kTiny)})}), loud});
  };
  const auto noisy = [&](Value* mean, Value* of) {
    return b.op("Add", {mean, b.op("Mul", {deviation(of), chance.normal(train::Builder::dims(mean))})});
  };
  if (const auto factor = factor_of(b.graph(), reader)) {
    Value* spread = variance_of(b, reader, *factor, variance);
    return read_through(reader.node->output(0), [&](Value* mean) { return noisy(mean, spread); });
  }
  Graph& graph = *reader.node->graph();
  graph.set_input(reader.node, reader.index, noisy(reader.node->input(reader.index), variance));
}

}  // namespace mlopt::prune
