#include "quantize/bias_correction.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "core/calib/channels.h"
#include "core/ir/view.h"
#include "core/rewrite/pass.h"
#include "core/tensor/cast.h"
#include "quantize/emit/weights.h"

namespace mlopt::quantize {
namespace {

/// A bias that readers share is not one to correct.
void put_bias(Graph& graph, Node* node, int index, Tensor numbers) {
  Value* old = node->input(index);
  graph.set_input(node, index, graph.add_constant(old->name + "_corrected", std::move(numbers)));
}

/// Adds to a bias in float32, or to its int32 codes behind a DequantizeLinear; false where it is neither.
bool add_to_bias(Graph& graph, Node* node, const std::vector<double>& change) {
  const auto at = [](size_t count, size_t c) { return count == 1 ? 0 : c; };
  Value* bias = node->input(2);
  if (!bias) return false;
  if (const Tensor* b = bias->known_constant(); b && b->dtype() == DType::kF32) {
    if (b->size() != 1 && b->size() != std::ssize(change)) return false;
    const std::vector<float> old = to_floats(*b);
    std::vector<float> numbers;
    for (size_t c = 0; c < change.size(); ++c)
      numbers.push_back(static_cast<float>(static_cast<double>(old[at(old.size(), c)]) + change[c]));
    put_bias(graph, node, 2, Tensor::of<float>({std::ssize(numbers)}, numbers));
    return true;
  }
  Node* dq = bias->producer;
  if (!dq || !dq->is("DequantizeLinear") || !bias->single_use()) return false;
  const Tensor *codes = dq->input(0)->known_constant(), *scale = dq->input(1)->known_constant();
  if (!codes || !scale || codes->dtype() != DType::kI32 || codes->size() != std::ssize(change)) return false;
  const std::vector<float> steps = to_floats(*scale);
  Tensor moved(DType::kI32, codes->dims());
  int32_t* to = moved.mutable_data<int32_t>();
  for (size_t c = 0; c < change.size(); ++c) {
    const double code = static_cast<double>(codes->data<int32_t>()[c]) +
                        std::nearbyint(change[c] / static_cast<double>(steps[at(steps.size(), c)]));
    to[c] = static_cast<int32_t>(std::clamp(code, -2147483648.0, 2147483647.0));
  }
  put_bias(graph, dq, 0, std::move(moved));
  return true;
}

/// The axis of the outputs is 1.
bool can_be_corrected(const Node& node, const Spec& spec) {
  if ((!node.is("Conv") && !node.is("Gemm")) || !node.input(1)->known_constant()) return false;
  return chosen(node, spec.only, spec.skip);
}

}  // namespace

std::vector<CorrectableLayer> give_biases(Model& model, const Spec& spec) {
  Graph& graph = *model.graph;
  std::vector<CorrectableLayer> layers;
  for (Node* node : graph.nodes()) {
    if (!can_be_corrected(*node, spec)) continue;
    node->name = node->called();
    if (!node->input(2)) {
      const int64_t outputs = node->input(1)->constant->dim(weight_axis(*node));
      graph.set_input(node, 2, graph.add_constant(node->name + "_bias", Tensor::zeros(DType::kF32, {outputs})));
    }
    layers.push_back({node->name, node->output(0)->name});
  }
  return layers;
}

int64_t correct_biases(Model& quantized, const Model& original, const std::vector<CorrectableLayer>& layers,
                       const Looking& data) {
  std::unordered_map<std::string, Node*> nodes;
  for (Node* node : quantized.graph->nodes())
    if (node->is("Conv") || node->is("Gemm")) nodes.emplace(node->name, node);
  std::vector<std::string> outputs;
  for (const auto& layer : layers) outputs.push_back(layer.output);
  if (outputs.empty()) return 0;
  const std::vector<ChannelStatistics> wanted = channel_statistics(original, outputs, data);
  Looking quietly = data;
  quietly.progress = {};
  int64_t corrected = 0;
  for (size_t i = 0; i < layers.size(); ++i) {
    const auto at = nodes.find(layers[i].node);
    if (at == nodes.end()) continue;
    const std::string result = at->second->output(0)->name;
    const ChannelStatistics is = channel_statistics(quantized, {&result, 1}, quietly)[0];
    std::vector<double> change;
    for (size_t c = 0; c < is.means.size(); ++c) change.push_back(wanted[i].means.at(c) - is.means[c]);
    corrected += add_to_bias(*quantized.graph, at->second, change);
    if (data.progress) data.progress("correcting biases", static_cast<int64_t>(i) + 1, std::ssize(layers));
  }
  return corrected;
}

}  // namespace mlopt::quantize
