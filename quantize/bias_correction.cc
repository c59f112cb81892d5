#include "quantize/bias_correction.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>

#include "core/calib/channels.h"
#include "core/ir/view.h"
#include "core/rewrite/end_with.h"
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

/// Convolutions and Gemms of the main graph by name.
std::unordered_map<std::string, Node*> layers_by_name(const Model& model) {
  std::unordered_map<std::string, Node*> nodes;
  for (Node* node : model.graph->nodes())
    if (node->is("Conv") || node->is("Gemm")) nodes.emplace(node->name, node);
  return nodes;
}

/// Values that follow from constants alone.
std::map<std::string, Tensor> computed(const Model& model, const std::vector<std::string>& names,
                                       const Runner& runner) {
  std::map<std::string, Tensor> found;
  std::vector<std::string> open;
  for (const std::string& name : names) {
    const Tensor* known = model.graph->find(name)->known_constant();
    if (known)
      found.emplace(name, *known);
    else
      open.push_back(name);
  }
  if (open.empty()) return found;
  Model part = clone(model);
  end_with(part, open);
  for (int i = static_cast<int>(part.graph->inputs().size()) - 1; i >= 0; --i) {
    Value* input = part.graph->inputs()[static_cast<size_t>(i)];
    if (!input->uses.empty()) return found;
    part.graph->remove_input(i);
    if (!input->constant) part.graph->erase(input);
  }
  CompileOptions options = runner.options;
  options.taps = open;
  const auto plan = runner.backend.compile(part, options);
  RunHooks hooks;
  hooks.on_tap = [&](std::string_view name, const Datum& value) { found.emplace(std::string(name), value.tensor()); };
  plan->run({}, hooks);
  return found;
}

/// By which the mean of each output changes when the weight does; nothing where the channels do not fit.
std::vector<double> mean_change(const Node& layer, const Tensor& before, const Tensor& after,
                                const std::vector<double>& means) {
  const NodeView view(layer, 0);
  const std::vector<double> was = to_doubles(before), is = to_doubles(after);
  const bool conv = layer.is("Conv"), by_rows = conv || view.get_int("transB", 0) != 0;
  const int64_t outputs = before.dim(by_rows ? 0 : 1), inputs = before.size() / outputs;
  const int64_t group = conv ? view.get_int("group", 1) : 1, channels = std::ssize(means) / group;
  if (was.size() != is.size() || channels == 0 || inputs % channels != 0) return {};
  std::vector<double> change(static_cast<size_t>(outputs));
  for (int64_t o = 0; o < outputs; ++o)
    for (int64_t i = 0; i < inputs; ++i) {
      const auto at = static_cast<size_t>(by_rows ? o * inputs + i : i * outputs + o);
      const int64_t channel = o / (outputs / group) * channels + i / (inputs / channels);
      change[static_cast<size_t>(o)] += (is[at] - was[at]) * means[static_cast<size_t>(channel)];
    }
  return change;
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
  const std::unordered_map<std::string, Node*> nodes = layers_by_name(quantized);
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

int64_t correct_biases(Model& quantized, const Model& original, const std::vector<CorrectableLayer>& layers,
                       const MomentsByName& moments, const Runner& runner) {
  const auto nodes = layers_by_name(quantized), sources = layers_by_name(original);
  std::vector<std::string> weights;
  for (const auto& layer : layers)
    if (const auto at = nodes.find(layer.node); at != nodes.end()) weights.push_back(at->second->input(1)->name);
  const std::map<std::string, Tensor> rounded = computed(quantized, weights, runner);
  int64_t corrected = 0;
  for (const auto& layer : layers) {
    const auto at = nodes.find(layer.node), from = sources.find(layer.node);
    if (at == nodes.end() || from == sources.end()) continue;
    const auto given = moments.find(from->second->input(0)->name);
    const auto weight = rounded.find(at->second->input(1)->name);
    const Tensor* before = from->second->input(1)->known_constant();
    if (given == moments.end() || weight == rounded.end() || !before) continue;
    std::vector<double> change = mean_change(*from->second, *before, weight->second, given->second.means);
    for (double& x : change) x = -x;
    corrected += !change.empty() && add_to_bias(*quantized.graph, at->second, change);
  }
  return corrected;
}

}  // namespace mlopt::quantize
