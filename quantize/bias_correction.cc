#include "quantize/bias_correction.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>

#include "core/calib/channels.h"
#include "core/calib/stages.h"
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

/// Adds to a bias in float32, or to its int32 codes behind a DequantizeLinear. Gives what was added, which steps may
/// make another number; nothing where it is neither.
std::vector<double> add_to_bias(Graph& graph, Node* node, const std::vector<double>& change) {
  const auto at = [](size_t count, size_t c) { return count == 1 ? 0 : c; };
  Value* bias = node->input(2);
  if (!bias) return {};
  if (const Tensor* b = bias->known_constant(); b && b->dtype() == DType::kF32) {
    if (b->size() != 1 && b->size() != std::ssize(change)) return {};
    const std::vector<float> old = to_floats(*b);
    std::vector<float> numbers;
    for (size_t c = 0; c < change.size(); ++c)
      numbers.push_back(static_cast<float>(static_cast<double>(old[at(old.size(), c)]) + change[c]));
    put_bias(graph, node, 2, Tensor::of<float>({std::ssize(numbers)}, numbers));
    return change;
  }
  Node* dq = bias->producer;
  if (!dq || !dq->is("DequantizeLinear") || !bias->single_use()) return {};
  const Tensor *codes = dq->input(0)->known_constant(), *scale = dq->input(1)->known_constant();
  if (!codes || !scale || codes->dtype() != DType::kI32 || codes->size() != std::ssize(change)) return {};
  const std::vector<float> steps = to_floats(*scale);
  Tensor moved(DType::kI32, codes->dims());
  int32_t* to = moved.mutable_data<int32_t>();
  std::vector<double> added;
  for (size_t c = 0; c < change.size(); ++c) {
    const auto step = static_cast<double>(steps[at(steps.size(), c)]),
               was = static_cast<double>(codes->data<int32_t>()[c]);
    to[c] = static_cast<int32_t>(std::clamp(was + std::nearbyint(change[c] / step), -2147483648.0, 2147483647.0));
    added.push_back((static_cast<double>(to[c]) - was) * step);
  }
  put_bias(graph, dq, 0, std::move(moved));
  return added;
}

/// Adds to each entry of axis 1.
void add_to_channels(Datum& value, const std::vector<double>& change) {
  Tensor moved = value.tensor();
  float* numbers = moved.mutable_data<float>();
  const auto inner = static_cast<size_t>(row_major_strides(moved.dims())[1]);
  for (size_t i = 0; i < static_cast<size_t>(moved.size()); ++i)
    numbers[i] += static_cast<float>(change[i / inner % change.size()]);
  value = std::move(moved);
}

/// Sums of channels, by value and batch.
using SumsByBatch = std::vector<std::vector<std::vector<double>>>;

/// By how much the original's channels have another mean than what is held of the layer, over the batches of these.
std::vector<double> mean_off(const std::vector<std::vector<double>>& wanted, const std::vector<Datum>& is) {
  std::vector<double> off;
  double places = 0;
  for (size_t b = 0; b < is.size(); ++b) {
    const Tensor& tensor = is[b].tensor();
    const std::vector<double> sums = channel_sums(tensor);
    if (sums.empty() || tensor.dtype() != DType::kF32 || wanted.at(b).size() != sums.size()) return {};
    off.resize(sums.size());
    for (size_t c = 0; c < sums.size(); ++c) off[c] += wanted[b][c] - sums[c];
    places += static_cast<double>(tensor.size()) / static_cast<double>(sums.size());
  }
  for (double& x : off) x /= places;
  return off;
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
  std::map<std::string, size_t> numbers;  // by node
  std::vector<std::string> outputs;
  for (const auto& layer : layers) {
    numbers.emplace(layer.node, outputs.size());
    outputs.push_back(layer.output);
  }
  if (outputs.empty()) return 0;
  SumsByBatch wanted(outputs.size());
  Looking quietly = data;
  quietly.progress = {};
  each_value(original, outputs, quietly, [&](size_t i, const Tensor& t) { wanted[i].push_back(channel_sums(t)); });
  Stages stages(quantized, quietly);
  int64_t corrected = 0, seen = 0;
  for (Node* node : quantized.graph->nodes()) {
    const auto at = numbers.find(node->name);
    if (at == numbers.end() || (!node->is("Conv") && !node->is("Gemm"))) continue;
    const std::string result = node->output(0)->name;
    stages.advance(quantized, result);
    const std::vector<double> off = mean_off(wanted[at->second], stages.of(result));
    const std::vector<double> added = off.empty() ? off : add_to_bias(*quantized.graph, node, off);
    corrected += !added.empty();
    if (!added.empty())
      for (Datum& value : stages.of(result)) add_to_channels(value, added);
    if (data.progress) data.progress("correcting biases", ++seen, std::ssize(layers));
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
    corrected += !change.empty() && !add_to_bias(*quantized.graph, at->second, change).empty();
  }
  return corrected;
}

}  // namespace mlopt::quantize
