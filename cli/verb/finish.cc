#include <fmt/core.h>

#include <chrono>

#include "cli/backends.h"
#include "cli/comparison.h"
#include "cli/model_info.h"
#include "cli/verb/verb.h"
#include "core/base/text.h"
#include "core/ir/verify.h"
#include "core/measure/memory.h"

namespace mlopt::cli {
namespace {

/// Everything that the ending found out.
struct Ending {
  ModelInfo source, result;
  Verification verification;
  std::optional<Scores> scores;
  SideBySide latency;
  std::vector<std::string> not_verified;
};

std::string percent(double result, double source) {
  return source > 0 ? fmt::format("{:.1f} %", 100 * result / source) : "";
}

std::string size(int64_t bytes) { return format_bytes(static_cast<double>(bytes)); }

void add_table(const Ending& e, Report& report) {
  Table& table = report.table("", {"", "source", "result", "change"});
  const auto share = [](int64_t result, int64_t source) {
    return percent(static_cast<double>(result), static_cast<double>(source));
  };
  table.rows = {
      {"size", size(e.source.file_bytes), size(e.result.file_bytes), share(e.result.file_bytes, e.source.file_bytes)},
      {"parameters", std::to_string(e.source.parameters), std::to_string(e.result.parameters),
       share(e.result.parameters, e.source.parameters)},
      {"nodes", std::to_string(e.source.nodes), std::to_string(e.result.nodes), share(e.result.nodes, e.source.nodes)}};
  if (e.scores) {
    table.rows.push_back({e.scores->source.metric, in_words(e.scores->source), in_words(e.scores->result),
                          fmt::format("{:+.4g}", e.scores->result.value - e.scores->source.value)});
  }
  if (e.latency.left_out.empty()) {
    table.rows.push_back({"p50 latency", fmt::format("{:.3f} ms", e.latency.source.p50),
                          fmt::format("{:.3f} ms", e.latency.result.p50), in_words(e.latency.ratio)});
  }
  if (e.verification.comparison) {
    report.line(fmt::format("difference on {} samples of {}: {}", e.verification.comparison->samples,
                            e.verification.data, in_words(*e.verification.comparison)));
  }
  if (!e.latency.left_out.empty()) report.line("latency not measured: " + e.latency.left_out);
  for (const std::string& sentence : e.not_verified) report.line("not verified: " + sentence);
}

Json score_json(const Scores& scores) {
  const auto one = [](const Score& s) {
    return Json::object({{"metric", s.metric}, {"value", s.value}, {"samples", s.samples}});
  };
  return Json::object({{"source", one(scores.source)}, {"result", one(scores.result)}});
}

void add_data(const VerbOptions& verb, const Ending& e, const std::string& device, Json& data) {
  Json verify = Json::object({{"data", e.verification.data}});
  if (e.verification.comparison) {
    verify["samples"] = e.verification.comparison->samples;
    verify["outputs"] = to_json(*e.verification.comparison);
  } else {
    verify["problem"] = e.verification.problem;
  }
  data["verify"] = std::move(verify);
  if (e.scores) data["score"] = score_json(*e.scores);
  data["latency"] = latency_json(e.latency, verb, device);
  data["not_verified"] = e.not_verified;
}

std::vector<Gate> judge_all(const VerbOptions& verb, const Ending& e) {
  ResultFigures figures;
  if (e.verification.comparison) figures.comparison = &*e.verification.comparison;
  if (e.scores) {
    figures.source_score = e.scores->source;
    figures.result_score = e.scores->result;
  }
  figures.source_bytes = e.source.file_bytes;
  figures.result_bytes = e.result.file_bytes;
  std::vector<Gate> gates = judge(verb.gates, figures);
  for (Gate& gate : judge_speed(verb, e.latency)) gates.push_back(std::move(gate));
  if (verb.strict) {
    gates.push_back(
        {"strict", 0, e.not_verified.size(), e.not_verified.empty(),
         e.not_verified.empty() ? "everything was verified" : "not verified: " + join(e.not_verified, "; ")});
  }
  return gates;
}

void write_result(const VerbOptions& verb, const Model& model, Report& report) {
  if (verb.no_write_on_fail && !report.holds()) {
    report.line(fmt::format("{} was not written", verb.output));
    report.data["written"] = false;
    return;
  }
  WriteOptions options;
  if (!verb.external.empty()) options.external = verb.external == "yes";
  write_model(model, verb.output, options);
  report.data["written"] = true;
}

}  // namespace

void finish_verb(const VerbOptions& verb, const Model& source, VerbResult made, Session& session) {
  require_valid(made.model, "the command");
  record_origin(source, made.spec, made.model);
  made.model.path = verb.output;

  Ending ending;
  ending.source = model_info(source);
  ending.result = model_info(made.model);
  ending.result.file_bytes = written_size(made.model);
  ending.not_verified = std::move(made.not_verified);
  ending.verification = verify_result(verb, source, made.model, session);
  if (!ending.verification.comparison) ending.not_verified.push_back("the outputs: " + ending.verification.problem);
  if (!verb.metric.empty()) ending.scores = score_both(verb, source, made.model, session);
  ending.latency = time_both(verb, source, made.model, session);

  Report& report = session.report;
  const std::string device = session.common.device.empty() ? default_device() : session.common.device;
  report.data["spec"] = made.spec;
  report.data["source"] = full_json(source, ending.source, run_cost(source, {}));
  report.data["result"] = full_json(made.model, ending.result, run_cost(made.model, {}));
  report.data["changes"] = std::move(made.changes);
  report.data["declined"] = std::move(made.declined);
  add_data(verb, ending, device, report.data);
  report.gates = judge_all(verb, ending);
  add_table(ending, report);
  write_result(verb, made.model, report);
  report.data["peak_memory_bytes"] = peak_memory();
}

}  // namespace mlopt::cli
