#include "cli/model_info.h"

#include <fmt/core.h>

#include <functional>

#include "cli/number_formats.h"
#include "core/base/text.h"
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

Json values_json(const std::vector<Value*>& values) {
  Json list = Json::array();
  for (const Value* value : values) {
    Json shape;  // null where not even the rank is known
    if (value->type.dims) {
      shape = Json::array();
      for (const Dim& dim : *value->type.dims) {
        const auto number = dim.value();
        shape.push_back(number ? Json(*number) : Json(dim.str()));
      }
    }
    const bool tensor = value->type.is_tensor();
    list.push_back(Json::object({{"name", value->name},
                                 {"type", tensor ? std::string(name(value->type.dtype)) : to_string(value->type)},
                                 {"shape", std::move(shape)}}));
  }
  return list;
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

std::vector<Value*> required_inputs(const Graph& graph) {
  std::vector<Value*> inputs = graph.inputs();
  std::erase_if(inputs, [](const Value* value) { return value->is_initializer(); });
  return inputs;
}

Json full_json(const Model& model, const ModelInfo& info, const RunCost& cost) {
  Json json = to_json(info);
  Json& imports = json["opset_imports"] = Json::object();
  for (const OpsetImport& import : model.opsets)
    imports[import.domain.empty() ? "ai.onnx" : import.domain] = import.version;
  json["opset"] = model.opset();
  json["ir_version"] = model.ir_version;
  json["producer"] = std::string(trim(fmt::format("{} {}", model.producer_name, model.producer_version)));
  json["macs"] = cost.macs;
  json["macs_unknown_nodes"] = cost.unknown_nodes;
  json["peak_activation_bytes"] = cost.activation_bytes;
  json["activations_unknown"] = cost.unknown_values;
  Json& assumed = json["assumed_shapes"] = Json::object();
  for (const auto& [input, shape] : cost.assumed) assumed[input] = shape;
  json["number_formats"] = number_formats(model);
  json["external_files"] = model.external_files;
  json["functions"] = model.functions.size();
  json["inputs"] = values_json(required_inputs(*model.graph));
  json["outputs"] = values_json(model.graph->outputs());
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
