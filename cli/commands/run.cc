#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "cli/backends.h"
#include "cli/commands.h"
#include "cli/data.h"
#include "cli/describe.h"
#include "cli/gpus.h"
#include "cli/precision.h"
#include "cli/runner.h"
#include "cli/test_data.h"
#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/calib/model_inputs.h"
#include "core/data/array_file.h"
#include "core/onnx/io.h"
#include "core/tensor/compare.h"

namespace mlopt::cli {
namespace {

constexpr double kRelative = 1e-3, kAbsolute = 1e-5;  // tolerances of the comparison

struct RunOptions {
  std::string model, output_dir, npz, precision;
  DataFlags data;
  std::optional<int64_t> batch;  // unset: as the data and the model say
  bool no_check = false, no_prepare = false, autotune = false;
  std::optional<double> rtol, atol;
};

/// An initializer that is also an input may be overridden: its value becomes the given one.
void override_defaults(Model& model, TestValues& inputs) {
  for (size_t k = inputs.names.size(); k-- > 0;) {
    Value* value = model.graph->find(inputs.names[k]);
    if (!value->is_initializer()) continue;
    value->constant = inputs.values[k].tensor();
    inputs.names.erase(inputs.names.begin() + static_cast<std::ptrdiff_t>(k));
    inputs.values.erase(inputs.values.begin() + static_cast<std::ptrdiff_t>(k));
  }
}

/// The stored inputs, or the first of the data that --data names, by the model's names.
TestValues given_inputs(const RunOptions& o, Model& model, const Session& session) {
  if (is_test_data(o.data.spec)) {
    refuse_sizes_of_stored(o.data);
    TestValues inputs = read_test_inputs(o.data.spec, *model.graph);
    override_defaults(model, inputs);
    return inputs;
  }
  const auto data =
      open_data(o.data, model, {.seed = session.common.seed, .whole = !o.batch, .batch = o.batch.value_or(0)});
  TestValues inputs;
  for (const InputSpec& spec : model_inputs(model)) inputs.names.push_back(spec.name);
  inputs.values = data->batch(0, samples_at_once(*data, o.batch.value_or(0))).inputs;
  return inputs;
}

std::vector<Datum> in_order(const TestValues& inputs, const std::vector<std::string>& names) {
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
  if (actual.is_tensor())
    return mismatch(actual.tensor(), expected.tensor(), o.rtol.value_or(kRelative), o.atol.value_or(kAbsolute));
  const auto &a = actual.items(), &e = expected.items();
  if (a.size() != e.size()) return fmt::format("{} items, expected {}", a.size(), e.size());
  for (size_t i = 0; i < a.size(); ++i) {
    if (const auto found = datum_mismatch(a[i], e[i], o)) return fmt::format("item {}: {}", i, *found);
  }
  if (actual.kind() == Datum::Kind::kMap) return mismatch(actual.keys(), expected.keys(), 0, 0);
  return std::nullopt;
}

void check(const RunOptions& o, const Graph& graph, const std::vector<Datum>& outputs, Report& report) {
  const TestValues expected = read_test_outputs(o.data.spec, graph);
  for (size_t k = 0; k < graph.outputs().size(); ++k) {
    const std::string& name = graph.outputs()[k]->name;
    const auto found = std::find(expected.names.begin(), expected.names.end(), name);
    if (found == expected.names.end()) continue;
    const size_t at = static_cast<size_t>(found - expected.names.begin());
    const auto difference = datum_mismatch(outputs[k], expected.values[at], o);
    const std::string words =
        fmt::format("output '{}' {}", name, difference ? "differs: " + *difference : "is as expected");
    report.gates.push_back({"expected-output", name, difference.value_or("equal"), !difference, words});
  }
}

void describe(const Graph& graph, const std::vector<Datum>& outputs, Report& report) {
  Table& table = report.table("", {"output", "type", "smallest", "largest", "mean", "NaN or inf"});
  table.left = 2;
  Json& list = report.data["outputs"] = Json::array();
  for (size_t k = 0; k < outputs.size(); ++k) {
    const std::string type = described_type(outputs[k]);
    std::vector<std::string> row = {graph.outputs()[k]->name, type};
    Json item = Json::object({{"name", graph.outputs()[k]->name}, {"type", type}});
    if (outputs[k].is_tensor() && has_numbers(outputs[k].tensor())) {
      const TensorStatistics s = tensor_statistics(outputs[k].tensor());
      for (const double number : {s.low, s.high, s.mean}) row.push_back(fmt::format("{:.6g}", number));
      row.push_back(std::to_string(s.nonfinite));
      item["min"] = s.low;
      item["max"] = s.high;
      item["mean"] = s.mean;
      item["nonfinite"] = s.nonfinite;
    }
    table.rows.push_back(std::move(row));
    list.push_back(std::move(item));
  }
}

/// Archives hold tensors only: what is left out is said.
void write_archive(const std::string& path, const Graph& graph, const std::vector<Datum>& outputs,
                   const Console& console) {
  NamedTensors arrays;
  for (size_t k = 0; k < outputs.size(); ++k) {
    const std::string& name = graph.outputs()[k]->name;
    if (outputs[k].is_tensor())
      arrays.emplace_back(name, outputs[k].tensor());
    else
      console.warn(fmt::format("output '{}' is not a tensor and is left out of {}", name, path));
  }
  write_npz(path, arrays);
}

void check_output_dir(const std::string& folder) {
  std::error_code ignored;  // what cannot be looked at is told of when it is made
  if (std::filesystem::exists(folder, ignored) && !std::filesystem::is_directory(folder, ignored))
    usage_error(fmt::format("'{}' is not a folder", folder), "--output-dir", "name a folder, which is made if missing");
}

void run(const RunOptions& o, Session& session) {
  if (o.batch && *o.batch < 1) usage_error("a batch has at least one sample", "--batch");
  for (const auto& [name, tolerance] : {std::pair("--rtol", o.rtol), {"--atol", o.atol}}) {
    if (!tolerance) continue;
    if (*tolerance < 0) usage_error("a tolerance is never below 0", name);
    if (o.no_check) usage_error("--no-check compares nothing", name, "leave one of them out");
    if (!is_test_data(o.data.spec))
      usage_error("only stored outputs are compared", name, "add --data with a test_data_set folder, or leave it out");
  }
  check_output_dir(o.output_dir);
  Model model = read_model(o.model);
  check_batch(model, o.batch.value_or(0));
  const std::unique_ptr<Backend> backend = open_backend(with_autotune(session.common.device, o.autotune));
  const TestValues inputs = given_inputs(o, model, session);
  Runner runner =
      o.no_prepare ? make_runner(*backend, session.common) : make_preparing_runner(*backend, session.common);
  runner.options.precision = precision_of(o.precision);
  runner.options.profile = !session.common.fallback.empty();
  const std::unique_ptr<Executable> plan = runner.compile(model);
  std::vector<Datum> outputs;
  with_data_hint(o.data, model, [&] { outputs = plan->run(in_order(inputs, plan->input_names())); });

  Report& report = session.report;
  report.data["model"] = o.model;
  report.data["device"] = backend->name();
  report.data["data"] = o.data.spec;
  report.data["fallback_nodes"] = plan->fallback_nodes();
  const std::vector<NodeCopies> copies = fallback_copies(plan->profile(), 1);
  if (!copies.empty()) report.data["fallback_copies"] = to_json(copies);
  describe(*model.graph, outputs, report);
  show_copies(copies, o.model, session.common.verbose, report);
  if (!o.output_dir.empty()) write_test_outputs(o.output_dir, *model.graph, outputs);
  if (!o.npz.empty()) write_archive(o.npz, *model.graph, outputs, session.console);
  report.data["peak_memory_bytes"] = peak_memory();
  if (is_test_data(o.data.spec) && !o.no_check) check(o, *model.graph, outputs, report);
}

Action setup(Options& options) {
  const auto o = std::make_shared<RunOptions>();
  options.positional("MODEL", o->model, "the model file; - is standard input");
  declare_data(options, o->data, "random:1");
  options.add("--batch", o->batch, "N", "samples in the run, where the model leaves that open");
  options.add("--no-prepare", o->no_prepare, "run the graph as it stands, without the passes of fuse");
  declare_precision(options, o->precision);
  options.add("--autotune", o->autotune, kAutotuneHelp);
  options.add("--no-check", o->no_check, "do not compare with output_K.pb");
  options.add("--rtol", o->rtol, "T", "relative tolerance of the comparison (default: 1e-3)");
  options.add("--atol", o->atol, "T", "absolute tolerance of the comparison (default: 1e-5)");
  options.add("--output-dir", o->output_dir, "DIR", "write the outputs as output_K.pb");
  options.add("--npz", o->npz, "FILE", "write the outputs as one archive of arrays, named as the outputs").writes =
      true;
  return [o](Session& session) { run(*o, session); };
}

}  // namespace

Command run_command() {
  return {.name = "run",
          .arguments = "MODEL",
          .summary = "run a model once; write its outputs or compare them with expected ones",
          .examples = {{{"run model.onnx --data test_data_set_0",
                         "run on stored inputs and compare with the stored outputs"},
                        {"run model.onnx --data test_data_set_0 --no-check --output-dir out", "keep the outputs"}}},
          .setup = setup};
}

}  // namespace mlopt::cli
