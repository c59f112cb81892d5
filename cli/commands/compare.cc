#include <fmt/core.h>

#include <memory>
#include <set>

#include "cli/backends.h"
#include "cli/commands.h"
#include "cli/comparison.h"
#include "cli/data.h"
#include "cli/gates.h"
#include "cli/model_info.h"
#include "cli/runner.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/onnx/io.h"

namespace mlopt::cli {
namespace {

struct CompareFlags {
  std::string first, second, metric;
  DataFlags data;
  int64_t samples = 64;
  ResultGates gates;
};

/// Size, nodes and parameters of both, and the operators whose number differs.
void show_structure(const ModelInfo& a, const ModelInfo& b, Report& report) {
  report.data["models"] = std::vector<Json>{to_json(a), to_json(b)};
  Table& table = report.table("", {"", a.path, b.path});
  table.rows = {
      {"size", format_bytes(static_cast<double>(a.file_bytes)), format_bytes(static_cast<double>(b.file_bytes))},
      {"parameters", std::to_string(a.parameters), std::to_string(b.parameters)},
      {"nodes", std::to_string(a.nodes), std::to_string(b.nodes)}};
  std::set<std::string> names;
  for (const auto* info : {&a, &b}) {
    for (const auto& [op, count] : info->operators) names.insert(op);
  }
  const auto count = [](const ModelInfo& info, const std::string& op) {
    const auto found = info.operators.find(op);
    return found == info.operators.end() ? 0 : found->second;
  };
  for (const std::string& op : names) {
    const int64_t before = count(a, op), after = count(b, op);
    if (before != after) table.rows.push_back({op, std::to_string(before), std::to_string(after)});
  }
}

void show_scores(const Score& a, const Score& b, Report& report) {
  report.data["scores"] = std::vector<Json>{to_json(a), to_json(b)};
  report.line(fmt::format("{} on {} samples: {} and {}", a.metric, a.samples, in_words(a), in_words(b)));
}

Score score(Executable& plan, const Dataset& data, const std::string& metric, const Session& session) {
  Progress progress = session.console.progress(metric, data.size());
  ScoreOptions options;
  options.metric = metric;
  options.progress = [&](int64_t done) { progress.set(done); };
  return score_model(plan, data, options);
}

RunComparison run_both(Executable& a, Executable& b, const Dataset& data, const CompareFlags& o,
                       const Session& session) {
  Progress progress = session.console.progress("comparing", std::min(o.samples, data.size()));
  CompareOptions options;
  options.samples = o.samples;
  options.progress = [&](int64_t done) { progress.set(done); };
  return compare_runs(a, b, data, options);
}

void run(const CompareFlags& o, Session& session) {
  check_gates(o.gates, o.metric);
  if (o.samples < 1) usage_error("at least one sample is compared", "--samples");
  const Model a = read_model(o.first), b = read_model(o.second);
  Report& report = session.report;
  const ModelInfo source = model_info(a), result = model_info(b);
  show_structure(source, result, report);

  std::unique_ptr<Dataset> data;
  const std::unique_ptr<Backend> backend = open_backend(session.common.device);
  const Runner runner = make_preparing_runner(*backend, session.common);
  const std::unique_ptr<Executable> first = runner.compile(a), second = runner.compile(b);
  RunComparison comparison;
  // Several samples at once show more, but not every model runs with a batch, though it leaves its size open.
  const auto compare = [&](bool distinct) {
    data = open_data(o.data, a, {.seed = session.common.seed, .distinct = distinct});
    comparison = run_both(*first, *second, *data, o, session);
  };
  try {
    compare(true);
  } catch (const Error& e) {
    if (e.code != Code::kBadInput) throw;
    with_data_hint(o.data, a, [&] { compare(false); });
  }
  report.line(fmt::format("{} samples of {} on {}: {}", comparison.samples, o.data.spec, backend->name(),
                          in_words(comparison)));
  add_table(comparison, report);
  report.data["device"] = backend->name();
  report.data["samples"] = comparison.samples;
  report.data["outputs"] = to_json(comparison);

  ResultFigures figures{&comparison, {}, {}, source.file_bytes, result.file_bytes};
  if (!o.metric.empty()) {
    figures.source_score = score(*first, *data, o.metric, session);
    figures.result_score = score(*second, *data, o.metric, session);
    show_scores(*figures.source_score, *figures.result_score, report);
  }
  report.gates = judge(o.gates, figures);
}

Action setup(Options& options) {
  const auto o = std::make_shared<CompareFlags>();
  options.positional("A", o->first, "the model that is taken as right; - is standard input");
  options.positional("B", o->second, "the model that is compared with it");
  declare_data(options, o->data, "random");
  options.add("--samples", o->samples, "N", "compare the outputs of at most N samples (default: 64)");
  options.add("--metric", o->metric, "M", "score both on the data, which must be labelled").choices = metric_names();
  declare_gates(options, o->gates);
  return [o](Session& session) { run(*o, session); };
}

}  // namespace

Command compare_command() {
  return {
      .name = "compare",
      .arguments = "A B",
      .summary = "run two models on the same data and tell how far apart they are",
      .examples = {{{"compare model.onnx fused.onnx --tolerance 1e-4", "on generated data, failing beyond a limit"},
                    {"compare model.onnx int8.onnx --data images:val/,resize=256,crop=224 --metric top1 --max-drop 0.5",
                     "with the score of both"}}},
      .setup = setup};
}

}  // namespace mlopt::cli
