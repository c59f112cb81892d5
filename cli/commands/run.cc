#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "cli/backends.h"
#include "cli/commands.h"
#include "cli/describe.h"
#include "cli/runner.h"
#include "cli/test_data.h"
#include "core/base/error.h"
#include "core/onnx/io.h"
#include "core/tensor/compare.h"

namespace mlopt::cli {
namespace {

struct RunOptions {
  std::string model, data, output_dir;
  bool no_check = false;
  double rtol = 1e-3, atol = 1e-5;
};

/// An initializer that is also an input may be overridden: its value becomes the given one.
void override_defaults(Model& model, TestInputs& inputs) {
  for (size_t k = inputs.names.size(); k-- > 0;) {
    Value* value = model.graph->find(inputs.names[k]);
    if (!value->is_initializer()) continue;
    value->constant = inputs.values[k].tensor();
    inputs.names.erase(inputs.names.begin() + static_cast<std::ptrdiff_t>(k));
    inputs.values.erase(inputs.values.begin() + static_cast<std::ptrdiff_t>(k));
  }
}

std::vector<Datum> in_order(const TestInputs& inputs, const std::vector<std::string>& names) {
  std::vector<Datum> ordered;
  for (const std::string& name : names) {
    const auto found = std::find(inputs.names.begin(), inputs.names.end(), name);
    if (found == inputs.names.end()) internal_error("the plan asks for an input that the model lacks", name);
    ordered.push_back(inputs.values[static_cast<size_t>(found - inputs.names.begin())]);
  }
  return ordered;
}

/// Compares tensors, and what is inside sequences, maps and optionals.
std::optional<std::string> datum_mismatch(const Datum& actual, const Datum& expected, const RunOptions& o) {
  if (actual.kind() != expected.kind()) return "one is a tensor, the other is not, or one of them is empty";
  if (actual.is_none()) return std::nullopt;
  if (actual.is_tensor()) return mismatch(actual.tensor(), expected.tensor(), o.rtol, o.atol);
  const auto &a = actual.items(), &e = expected.items();
  if (a.size() != e.size()) return fmt::format("{} items, expected {}", a.size(), e.size());
  for (size_t i = 0; i < a.size(); ++i) {
    if (const auto found = datum_mismatch(a[i], e[i], o)) return fmt::format("item {}: {}", i, *found);
  }
  if (actual.kind() == Datum::Kind::kMap) return mismatch(actual.keys(), expected.keys(), 0, 0);
  return std::nullopt;
}

void check(const RunOptions& o, const Graph& graph, const std::vector<Datum>& outputs, Report& report) {
  const std::vector<Datum> expected = read_test_outputs(o.data, graph);
  for (size_t k = 0; k < expected.size(); ++k) {
    const std::string& name = graph.outputs()[k]->name;
    const auto difference = datum_mismatch(outputs[k], expected[k], o);
    const std::string words =
        fmt::format("output '{}' {}", name, difference ? "differs: " + *difference : "is as expected");
    report.gates.push_back({"expected-output", name, difference.value_or("equal"), !difference, words});
  }
}

void describe(const Graph& graph, const std::vector<Datum>& outputs, Report& report) {
  Table& table = report.table("", {"output", "type", "smallest", "largest", "mean"});
  Json& list = report.data["outputs"] = Json::array();
  for (size_t k = 0; k < outputs.size(); ++k) {
    const DatumSummary summary = summarize(outputs[k]);
    table.rows.push_back({graph.outputs()[k]->name, summary.type, summary.smallest, summary.largest, summary.mean});
    list.push_back(Json::object({{"name", graph.outputs()[k]->name}, {"type", summary.type}}));
  }
}

void run(const RunOptions& o, Session& session) {
  if (o.data.empty()) usage_error("no inputs were given", "--data", "give a folder with input_0.pb");
  Model model = read_model(o.model);
  if (!is_test_data(o.data)) input_error("no input_0.pb in the folder", o.data, "give a test_data_set folder");
  TestInputs inputs = read_test_inputs(o.data, *model.graph);
  override_defaults(model, inputs);

  const std::unique_ptr<Backend> backend = open_backend(session.common.device);
  const std::unique_ptr<Executable> plan = make_runner(*backend, session.common).compile(model);
  const std::vector<Datum> values = in_order(inputs, plan->input_names());
  const std::vector<Datum> outputs = plan->run(values);

  session.report.data["model"] = o.model;
  session.report.data["device"] = backend->name();
  session.report.data["fallback_nodes"] = plan->fallback_nodes();
  describe(*model.graph, outputs, session.report);
  if (!o.output_dir.empty()) write_test_outputs(o.output_dir, *model.graph, outputs);
  if (!o.no_check) check(o, *model.graph, outputs, session.report);
}

Action setup(Options& options) {
  const auto o = std::make_shared<RunOptions>();
  options.positional("MODEL", o->model, "the model file; - is standard input");
  options.add("--data", o->data, "SPEC", "the inputs: a folder with input_K.pb (and output_K.pb to compare with)");
  options.add("--no-check", o->no_check, "do not compare with output_K.pb");
  options.add("--rtol", o->rtol, "T", "relative tolerance of the comparison (default: 1e-3)");
  options.add("--atol", o->atol, "T", "absolute tolerance of the comparison (default: 1e-5)");
  options.add("--output-dir", o->output_dir, "DIR", "write the outputs as output_K.pb");
  return [o](Session& session) { run(*o, session); };
}

}  // namespace

Command run_command() {
  return {.name = "run",
          .arguments = "MODEL --data SPEC",
          .summary = "run a model once; write its outputs or compare them with expected ones",
          .examples = {{{"run model.onnx --data test_data_set_0",
                         "run on stored inputs and compare with the stored outputs"},
                        {"run model.onnx --data test_data_set_0 --no-check --output-dir out", "keep the outputs"}}},
          .setup = setup};
}

}  // namespace mlopt::cli
