#include "cli/model_info.h"

#include <functional>

#include "core/calib/model_inputs.h"
#include "core/ir/activations.h"
#include "core/ir/bind.h"
#include "core/ir/macs.h"
#include "core/onnx/infer.h"
#include "core/onnx/tools.h"

namespace mlopt::cli {
namespace {

/// Every graph of the model: the main one, function bodies, and the bodies nested in them.
void visit_graphs(const Graph& graph, const std::function<void(const Graph&)>& visit) {
  visit(graph);
  for (const Node* node : graph.nodes()) {
    for (const Graph* body : node->bodies()) visit_graphs(*body, visit);
  }
}

void count_constants(const Graph& graph, ModelInfo& info) {
  for (const Value* value : graph.values()) {
    if (!value->constant) continue;
    const Tensor& tensor = *value->constant;
    TypeSize& size = info.sizes[std::string(name(tensor.dtype()))];
    ++size.tensors;
    size.elements += tensor.size();
    size.bytes += static_cast<int64_t>(tensor.bytes());
    info.parameters += tensor.size();
  }
}

}  // namespace

ModelInfo model_info(const Model& model) {
  ModelInfo info;
  info.path = model.path;
  info.file_bytes = model.file_bytes;
  for (const Node* node : all_nodes(*model.graph)) {
    ++info.nodes;
    ++info.operators[node->domain.empty() ? node->op : node->domain + "." + node->op];
  }
  const auto count = [&](const Graph& graph) { count_constants(graph, info); };
  visit_graphs(*model.graph, count);
  for (const Function& function : model.functions) visit_graphs(*function.body, count);
  return info;
}

Json to_json(const ModelInfo& info) {
  Json json = Json::object(
      {{"path", info.path}, {"size_bytes", info.file_bytes}, {"nodes", info.nodes}, {"parameters", info.parameters}});
  Json& operators = json["operators"] = Json::object();
  for (const auto& [op, count] : info.operators) operators[op] = count;
  Json& types = json["size_by_type"] = Json::object();
  for (const auto& [type, size] : info.sizes) {
    types[type] = Json::object({{"tensors", size.tensors}, {"elements", size.elements}, {"bytes", size.bytes}});
  }
  return json;
}

RunCost run_cost(const Model& model, const RandomOptions& shapes) {
  Model copy = clone(model);
  inline_functions(copy);
  const std::vector<InputSpec> inputs = model_inputs(copy);
  const std::vector<Dims> dims = concrete_shapes(inputs, shapes);
  RunCost cost;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const bool free = to_string(inputs[i].dims) != to_string(SymDims(dims[i].begin(), dims[i].end()));
    if (free) cost.assumed.emplace_back(inputs[i].name, to_string(dims[i]));
  }
  bind_input_shapes(copy, dims, standard_types);
  const MacTotal total = total_macs(copy);
  const ActivationPeak peak = activation_peak(*copy.graph);
  cost.macs = total.macs;
  cost.unknown_nodes = total.unknown_nodes;
  cost.activation_bytes = peak.bytes;
  cost.unknown_values = peak.unknown_values;
  return cost;
}

}  // namespace mlopt::cli
