#include "quantize/bias_correction.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string_view>
#include <unordered_map>

#include "core/calib/channels.h"
#include "core/calib/stages.h"
#include "core/ir/view.h"
#include "core/rewrite/end_with.h"
#include "core/rewrite/pass.h"
#include "core/tensor/cast.h"
#include "core/tensor/scaled.h"
#include "quantize/emit/weights.h"
#include "quantize/layer_bias.h"

namespace mlopt::quantize {
namespace {

constexpr std::string_view kMicrosoft = "com.microsoft";

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
  if (!node.is("Conv") && !node.is("Gemm")) return false;
  const Tensor* weight = node.input(1)->known_constant();
  return weight && weight->dtype() == DType::kF32 && chosen(node, spec.only, spec.skip);
}

/// beta * C in the place of C, so that what is added to it is added to the outputs.
void take_in_beta(Graph& graph, Node* gemm) {
  const float beta = NodeView(*gemm, 0).get_float("beta", 1);
  if (beta == 1) return;
  Value* c = gemm->input(2);
  if (c && beta != 0) {
    if (!c->known_constant()) return;
    const Tensor numbers = scaled(*c->constant, static_cast<double>(beta));
    graph.set_input(gemm, 2, graph.add_constant(c->name + "_scaled", numbers));
  } else if (c) {
    graph.resize_inputs(gemm, 2);
  }
  gemm->remove_attr("beta");
}

/// A constant of this layer alone with a number for each output: what is added to it later takes no more room.
void give_bias(Graph& graph, Node* node) {
  const int64_t outputs = node->input(1)->constant->dim(weight_axis(*node));
  const Value* bias = node->input(2);
  std::vector<float> numbers(static_cast<size_t>(outputs));
  if (bias) {
    const Tensor* old = bias->known_constant();
    if (!old || old->dtype() != DType::kF32 || (old->size() != 1 && old->size() != outputs)) return;
    const bool own = bias->is_initializer() && bias->single_use();
    if (old->rank() > 0 && old->size() == outputs && (own || old->dims().back() != outputs)) return;
    const std::vector<float> floats = to_floats(*old);
    for (size_t c = 0; c < numbers.size(); ++c) numbers[c] = floats[floats.size() == 1 ? 0 : c];
  }
  graph.set_input(node, 2, graph.add_constant(node->name + "_bias", Tensor::of<float>({outputs}, numbers)));
}

/// Layers of the main graph, and what they have become, by name.
std::unordered_map<std::string, Node*> layers_by_name(const Model& model) {
  std::unordered_map<std::string, Node*> nodes;
  for (Node* node : model.graph->nodes())
    if (bias_index(*node) >= 0) nodes.emplace(node->name, node);
  return nodes;
}

/// The operator of com.microsoft that multiplies by a layer's stored weight; null where there is none.
const Node* stored_product(const Node& layer) {
  const Node* node = layer.is("Add") ? layer.input(0)->producer : &layer;
  const bool stored = node && (node->is("MatMulNBits", kMicrosoft) || node->is("MatMulBnb4", kMicrosoft));
  return stored ? node : nullptr;
}

using Rows = std::map<std::string, Tensor>;  // by the result of the stored product that is given one

/// Each product is of such a row alone, in floats and without a bias.
void give_rows(Model& part, const Rows& rows) {
  constexpr int kOperands = 4;
  for (const auto& [result, row] : rows) {
    Value* y = part.graph->find(result);
    Node* product = y->producer;
    const Attr* outputs = product->attr("N");
    y->type = Type::tensor(DType::kF32, Dims{1, std::get<int64_t>(outputs->value)});
    if (std::ssize(product->inputs()) > kOperands) part.graph->resize_inputs(product, kOperands);
    part.graph->set_input(product, 0, part.graph->add_constant(result + "_row", row));
    product->remove_attr("accuracy_level");
  }
}

/// Values that follow from constants and rows alone.
std::map<std::string, Tensor> computed(const Model& model, const std::set<std::string>& names, const Rows& rows,
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
  give_rows(part, rows);
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

/// The mean of each output without the bias, where the layer has this weight; nothing where the channels do not fit.
std::vector<double> mean_outputs(const Node& layer, const Tensor& weight, const std::vector<double>& means) {
  const NodeView view(layer, 0);
  const bool conv = layer.is("Conv"), by_rows = conv || view.get_int("transB", 0) != 0;
  const int64_t outputs = weight.dim(by_rows ? 0 : 1), inputs = weight.size() / outputs;
  const int64_t group = conv ? view.get_int("group", 1) : 1, channels = std::ssize(means) / group;
  if (channels == 0 || inputs % channels != 0 || view.get_int("transA", 0) != 0) return {};
  const auto alpha = static_cast<double>(view.get_float("alpha", 1));
  const std::vector<double> numbers = to_doubles(weight);
  std::vector<double> made(static_cast<size_t>(outputs));
  for (int64_t o = 0; o < outputs; ++o)
    for (int64_t i = 0; i < inputs; ++i) {
      const auto at = static_cast<size_t>(by_rows ? o * inputs + i : i * outputs + o);
      const int64_t channel = o / (outputs / group) * channels + i / (inputs / channels);
      made[static_cast<size_t>(o)] += alpha * numbers[at] * means[static_cast<size_t>(channel)];
    }
  return made;
}

/// A row of as many numbers as a Gemm adds products, each with the mean of its channel.
Tensor row_of(const Tensor& weight, size_t outputs, const std::vector<double>& means) {
  const auto inputs = static_cast<size_t>(weight.size()) / outputs;
  std::vector<float> row;
  for (size_t i = 0; i < inputs; ++i) row.push_back(static_cast<float>(means[i / (inputs / means.size())]));
  return Tensor::of<float>({1, std::ssize(row)}, row);
}

/// A layer of which it is known what it is given.
struct KnownLayer {
  Node* node;
  const Node* source;
  const std::vector<double>& means;
  std::vector<double> outputs;  // means as the source has them
  std::string value;            // of the weight, or of the product that is given a row of means
};

}  // namespace

std::vector<CorrectableLayer> give_biases(Model& model, const Spec& spec) {
  Graph& graph = *model.graph;
  std::vector<CorrectableLayer> layers;
  for (Node* node : graph.nodes()) {
    if (!can_be_corrected(*node, spec)) continue;
    node->name = node->called();
    if (node->is("Gemm")) take_in_beta(graph, node);
    give_bias(graph, node);
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
    if (at == numbers.end() || bias_index(*node) < 0) continue;
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
  std::vector<KnownLayer> known;
  std::set<std::string> values;
  Rows rows;
  for (const auto& layer : layers) {
    const auto at = nodes.find(layer.node), from = sources.find(layer.node);
    if (at == nodes.end() || from == sources.end()) continue;
    const auto given = moments.find(from->second->input(0)->name);
    const Tensor* before = from->second->input(1)->known_constant();
    const Node* product = stored_product(*at->second);
    if (given == moments.end() || !before || (!product && at->second->is("Add"))) continue;
    const std::vector<double>& means = given->second.means;
    std::vector<double> outputs = mean_outputs(*from->second, *before, means);
    if (outputs.empty()) continue;
    const std::string& value = product ? product->output(0)->name : at->second->input(1)->name;
    if (product) rows.emplace(value, row_of(*before, outputs.size(), means));
    values.insert(value);
    known.push_back({at->second, from->second, means, std::move(outputs), value});
  }
  const std::map<std::string, Tensor> made = computed(quantized, values, rows, runner);
  int64_t corrected = 0;
  for (const KnownLayer& layer : known) {
    const auto at = made.find(layer.value);
    if (at == made.end()) continue;
    std::vector<double> change =
        rows.contains(layer.value) ? to_doubles(at->second) : mean_outputs(*layer.source, at->second, layer.means);
    if (change.size() != layer.outputs.size()) continue;
    for (size_t c = 0; c < change.size(); ++c) change[c] = layer.outputs[c] - change[c];
    corrected += !add_to_bias(*quantized.graph, layer.node, change).empty();
  }
  return corrected;
}

}  // namespace mlopt::quantize
