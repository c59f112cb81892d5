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

void show_interface(const Model& model, Report& report) {
  Table& table = report.table("", {"", "name", "type"});
  table.left = 3;
  for (const Value* value : required_inputs(*model.graph)) {
    table.rows.push_back({"input", value->name, to_string(value->type)});
  }
  for (const Value* value : model.graph->outputs()) {
    table.rows.push_back({"output", value->name, to_string(value->type)});
  }
}

void show_header(const Model& model, const ModelInfo& info, Report& report) {
  std::string opsets;
  for (const OpsetImport& import : model.opsets) {
    opsets += fmt::format("{}{} {}", opsets.empty() ? "" : ", ", import.domain.empty() ? "ai.onnx" : import.domain,
                          import.version);
  }
  const std::string producer = fmt::format("{} {}", model.producer_name, model.producer_version);
  report.line(fmt::format("opset {}; IR version {}; producer {}", opsets, model.ir_version,
                          model.producer_name.empty() ? "not named" : trim(producer)));
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

void show_cost(const RunCost& cost, Report& report) {
  std::string words;
  for (const auto& [input, shape] : cost.assumed) {
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
  if (!formats.empty()) report.line("number formats: " + join(formats, "; "));
  if (!model.external_files.empty()) report.line("external data in " + join(model.external_files, ", "));
  if (!model.functions.empty()) report.line(fmt::format("{} local functions", model.functions.size()));
}

void run(const InfoOptions& o, Session& session) {
  const Model model = read_model(o.model);
  RandomOptions shapes;
  for (const std::string& shape : o.shapes) add_shape(shapes, shape);
  const ModelInfo info = model_info(model);
  const RunCost cost = run_cost(model, shapes);
  Report& report = session.report;
  const Json facts = full_json(model, info, cost);
  for (const auto& [key, value] : facts.members()) report.data[key] = value;
  show_header(model, info, report);
  show_cost(cost, report);
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
