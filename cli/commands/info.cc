#include <fmt/core.h>

#include <algorithm>
#include <memory>

#include "cli/commands.h"
#include "cli/describe.h"
#include "cli/model_info.h"
#include "cli/number_formats.h"
#include "core/base/text.h"
#include "core/onnx/io.h"

namespace mlopt::cli {
namespace {

struct InfoOptions {
  std::string model;
  std::vector<std::string> shapes;
  bool weights = false;
};

Json list_values(const std::vector<Value*>& values, std::string_view kind, Table& table) {
  Json list = Json::array();
  for (const Value* value : values) {
    Json shape;  // null where not even the rank is known
    if (value->type.dims) {
      shape = Json::array();
      for (const Dim& dim : *value->type.dims) {
        if (const auto number = dim.value())
          shape.push_back(*number);
        else
          shape.push_back(dim.str());
      }
    }
    const std::string type = to_string(value->type);
    const bool tensor = value->type.is_tensor();
    list.push_back(Json::object({{"name", value->name},
                                 {"type", tensor ? std::string(name(value->type.dtype)) : type},
                                 {"shape", std::move(shape)}}));
    table.rows.push_back({std::string(kind), value->name, type});
  }
  return list;
}

/// Inputs that a caller must give; initializers that are listed as inputs are defaults.
std::vector<Value*> required_inputs(const Graph& graph) {
  std::vector<Value*> inputs = graph.inputs();
  std::erase_if(inputs, [](const Value* value) { return value->is_initializer(); });
  return inputs;
}

void show_interface(const Model& model, Report& report) {
  Table& table = report.table("", {"", "name", "type"});
  table.left = 3;
  report.data["inputs"] = list_values(required_inputs(*model.graph), "input", table);
  report.data["outputs"] = list_values(model.graph->outputs(), "output", table);
}

void show_header(const Model& model, const ModelInfo& info, Report& report) {
  std::string opsets;
  Json& imports = report.data["opset_imports"] = Json::object();
  for (const OpsetImport& import : model.opsets) {
    const std::string domain = import.domain.empty() ? "ai.onnx" : import.domain;
    imports[domain] = import.version;
    opsets += fmt::format("{}{} {}", opsets.empty() ? "" : ", ", domain, import.version);
  }
  report.data["opset"] = model.opset();
  report.data["ir_version"] = model.ir_version;
  report.data["producer"] = fmt::format("{} {}", model.producer_name, model.producer_version);
  report.line(fmt::format("opset {}; IR version {}; producer {} {}", opsets, model.ir_version,
                          model.producer_name.empty() ? "not named" : model.producer_name, model.producer_version));
  report.line(fmt::format("{}, {} nodes, {} parameters", format_bytes(static_cast<double>(info.file_bytes)), info.nodes,
                          info.parameters));
}

void show_sizes(const ModelInfo& info, Report& report) {
  Table& types = report.table("Constants by type", {"type", "tensors", "elements", "size"});
  for (const auto& [type, size] : info.sizes) {
    types.rows.push_back({type, std::to_string(size.tensors), std::to_string(size.elements),
                          format_bytes(static_cast<double>(size.bytes))});
  }
  std::vector<std::pair<std::string, int64_t>> operators(info.operators.begin(), info.operators.end());
  std::stable_sort(operators.begin(), operators.end(), [](auto& a, auto& b) { return a.second > b.second; });
  Table& table = report.table("Operators", {"operator", "nodes"});
  for (const auto& [op, count] : operators) table.rows.push_back({op, std::to_string(count)});
}

void show_cost(const Model& model, const InfoOptions& o, Report& report) {
  RandomOptions shapes;
  for (const std::string& shape : o.shapes) add_shape(shapes, shape);
  const RunCost cost = run_cost(model, shapes);
  report.data["macs"] = cost.macs;
  report.data["macs_unknown_nodes"] = cost.unknown_nodes;
  report.data["peak_activation_bytes"] = cost.activation_bytes;
  report.data["activations_unknown"] = cost.unknown_values;
  Json& assumed = report.data["assumed_shapes"] = Json::object();
  std::string words;
  for (const auto& [input, shape] : cost.assumed) {
    assumed[input] = shape;
    words += fmt::format("{}{} {}", words.empty() ? " with " : ", ", input, shape);
  }
  report.line(fmt::format("{:.4g} million multiply-accumulates{}, at most {} of activations at once",
                          static_cast<double>(cost.macs) * 1e-6, words,
                          format_bytes(static_cast<double>(cost.activation_bytes))));
  if (cost.unknown_nodes + cost.unknown_values > 0) {
    report.line(fmt::format("not counted, as their shapes are not known: {} nodes, {} values", cost.unknown_nodes,
                            cost.unknown_values));
  }
}

void show_storage(const Model& model, Report& report) {
  const std::vector<std::string> formats = number_formats(model);
  report.data["number_formats"] = formats;
  if (!formats.empty()) report.line("number formats: " + join(formats, "; "));
  report.data["external_files"] = model.external_files;
  if (!model.external_files.empty()) report.line("external data in " + join(model.external_files, ", "));
  if (!model.functions.empty()) report.line(fmt::format("{} local functions", model.functions.size()));
  report.data["functions"] = model.functions.size();
}

void run(const InfoOptions& o, Session& session) {
  const Model model = read_model(o.model);
  const ModelInfo info = model_info(model);
  Report& report = session.report;
  const Json summary = to_json(info);
  for (const auto& [key, value] : summary.members()) report.data[key] = value;
  show_header(model, info, report);
  show_cost(model, o, report);
  show_storage(model, report);
  show_interface(model, report);
  show_sizes(info, report);
  if (o.weights) show_weights(model, session);
}

Action setup(Options& options) {
  const auto o = std::make_shared<InfoOptions>();
  options.positional("MODEL", o->model, "the model file; - is standard input");
  options.add("--weights", o->weights, "read the constants too: range, mean and zeros of each");
  options.add("--shape", o->shapes, "NAME=DIMS", "the shape of an input, or the size of a free dimension (else 1)");
  return [o](Session& session) { run(*o, session); };
}

}  // namespace

Command info_command() {
  return {.name = "info",
          .arguments = "MODEL",
          .summary = "what is in a model: inputs and outputs, operators, sizes, cost of a run",
          .examples = {{{"info model.onnx", "a summary"},
                        {"info model.onnx --shape batch=8 --json -", "with the cost of a batch of 8, for a script"}}},
          .setup = setup};
}

}  // namespace mlopt::cli
