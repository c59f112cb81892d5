#include <fmt/core.h>

#include "cli/environment.h"
#include "cli/model_info.h"
#include "cli/output.h"
#include "cli/verb/verb.h"
#include "core/base/memory.h"
#include "core/base/text.h"

namespace mlopt::cli {
namespace {

constexpr double kFarDb = 10;  // SQNR: noise of a third of the signal

Ending examine(const VerbOptions& verb, const Model& source, VerbResult& made, Plans& plans, const Session& session) {
  Ending e;
  e.not_verified = std::move(made.not_verified);
  const Validity validity = validity_of(source, made.model);
  e.not_verified.insert(e.not_verified.end(), validity.doubts.begin(), validity.doubts.end());
  e.source = model_info(source);
  e.result = model_info(made.model);
  e.result.file_bytes = written_size(made.model, verb.output, write_options(verb));
  e.source_cost = run_cost(source, {});
  e.result_cost = run_cost(made.model, {});
  e.verification = verify_result(verb, source, made.model, e.source_cost, plans, session);
  require_accepted(validity, e.verification, source);
  if (!e.verification.comparison) e.not_verified.push_back("the outputs: " + e.verification.problem);
  if (!verb.metric.empty()) e.scores = score_both(verb, source, plans, session);
  if (e.verification.cannot_run)
    e.latency.left_out = e.verification.problem;
  else
    e.latency = time_both(verb, source, made.model, plans, session);
  return e;
}

/// A difference that nobody can want is said aloud, whether a gate asked for it or not.
void warn_if_far(const Verification& verification, Session& session) {
  if (!verification.comparison) return;
  for (const OutputComparison& output : verification.comparison->outputs) {
    const bool close = output.difference && output.difference->same_nonfinite && output.difference->sqnr_db >= kFarDb;
    if (close || output.equal()) continue;
    const std::string sentence = fmt::format("output '{}' of the result is far from the source's", output.name);
    session.console.warn(sentence);
    session.report.data["warnings"].push_back(sentence);
  }
}

/// Nobody wants NaN for a number, whether a gate was asked for or not.
std::vector<Gate> judge_numbers(const Verification& verification) {
  std::vector<Gate> gates;
  if (!verification.comparison) return gates;
  for (const OutputComparison& output : verification.comparison->outputs) {
    if (!output.difference || !output.difference->lost_numbers) continue;
    gates.push_back(
        {"finite", output.name, Json(), false,
         fmt::format("output '{}' of the result has NaN or infinity where the source has a number", output.name)});
  }
  return gates;
}

std::vector<Gate> judge_all(const VerbOptions& verb, const Ending& e, const Model& source, const Model& result,
                            const Session& session) {
  ResultFigures figures;
  if (e.verification.comparison) figures.comparison = &*e.verification.comparison;
  if (e.scores) {
    figures.source_score = e.scores->source;
    figures.result_score = e.scores->result;
  }
  figures.source_bytes = e.source.file_bytes;
  figures.result_bytes = e.result.file_bytes;
  std::vector<Gate> gates = judge(verb.gates, figures);
  const auto add = [&](std::vector<Gate> more) {
    for (Gate& gate : more) gates.push_back(std::move(gate));
  };
  add(judge_numbers(e.verification));
  add(judge_speed(verb, e.latency));
  add(judge_memory(verb, source, result, session));
  add(judge_regress(verb, e.latency, session.report.data));
  if (verb.strict) {
    gates.push_back(
        {"strict", 0, e.not_verified.size(), e.not_verified.empty(),
         e.not_verified.empty() ? "everything was verified" : "not verified: " + join(e.not_verified, "; ")});
  }
  return gates;
}

void write_result(const VerbOptions& verb, const Model& source, const Model& model, Report& report) {
  if (verb.no_write_on_fail && !report.holds()) {
    report.line(fmt::format("{} was not written", verb.output == "-" ? "the model" : verb.output));
    report.data["written"] = false;
    return;
  }
  WriteOptions options = write_options(verb);
  if (!same_file(source.path, verb.output))
    for (const std::string& name : source.external_files) options.kept.push_back(external_path(source.path, name));
  write_model(model, verb.output, options);
  report.data["written"] = true;
}

}  // namespace

WriteOptions write_options(const VerbOptions& verb) {
  WriteOptions options;
  if (!verb.external.empty()) options.external = verb.external == "yes";
  options.sparse = verb.sparse;
  return options;
}

void finish_verb(const VerbOptions& verb, const Model& source, VerbResult made, Session& session) {
  record_origin(source, made, made.model);
  made.model.path = verb.output;
  const bool held = verb.bench || verb.min_speedup || verb.max_latency_ms || !verb.metric.empty();
  Plans plans(source, made.model, session, !held);
  const Ending ending = examine(verb, source, made, plans, session);

  Report& report = session.report;
  report.data["spec"] = made.spec;
  report.data["source"] = full_json(source, ending.source, ending.source_cost);
  report.data["result"] = full_json(made.model, ending.result, ending.result_cost);
  report.data["changes"] = std::move(made.changes);
  report.data["declined"] = std::move(made.declined);
  report.data["environment"] = environment_json(session.common.threads);
  add_figures(verb, ending, plans, report.data);
  report.gates = judge_all(verb, ending, source, made.model, session);
  add_table(ending, report);
  if (!made.may_differ) warn_if_far(ending.verification, session);
  write_result(verb, source, made.model, report);
  report.data["peak_memory_bytes"] = peak_memory();
}

}  // namespace mlopt::cli
