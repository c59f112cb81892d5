#include <fmt/core.h>

#include "cli/verb/verb.h"
#include "core/base/error.h"
#include "core/ir/verify.h"

namespace mlopt::cli {
namespace {

constexpr int kMaxSeconds = 1000000;

}  // namespace

void declare_verb(Options& options, VerbOptions& verb) {
  options.positional("MODEL", verb.model, "the model file; - is standard input");
  Option& output = options.add("-o,--output", verb.output, "FILE", "the model to write; - is standard output");
  output.required = output.writes = true;
  declare_data(options, verb.data, "");
  options.add("--metric", verb.metric, "M", "score source and result on the data").choices = metric_names();
  options.add("--samples", verb.samples, "N", "compare the results on at most N samples (default: 16)");
  options.add("--bench", verb.bench, "S", "seconds of timing source and result side by side (default: 1)");
  options.add("--no-bench", verb.no_bench, "do not time them");
  options.add("--external", verb.external, "yes|no", "weights in a file of their own (default: above 2 GB)").choices = {
      "yes", "no"};
  options.add("--min-speedup", verb.min_speedup, "R", "gate: the result is R times as fast, surely");
  options.add("--max-latency", verb.max_latency_ms, "MS", "gate: p50 of the result is at most MS milliseconds");
  options.add("--max-memory", verb.max_memory, "X",
              "gate: a run of the result needs at most X bytes (300M), or X% of what the source needs");
  options.add("--baseline", verb.baseline, "FILE",
              "gate: compare size, score and latency with an earlier --json report");
  options.add("--max-regress", verb.max_regress, "P%", "how much worse than --baseline is allowed (default: 5%)");
  declare_gates(options, verb.gates);
  options.add("--strict", verb.strict, "what could not be verified is a failure");
  options.add("--no-write-on-fail", verb.no_write_on_fail, "write no model when a gate does not hold");
}

std::string first_gate(const VerbOptions& verb) {
  const ResultGates& of_result = verb.gates;
  const std::pair<const char*, bool> gates[] = {{"--tolerance", of_result.tolerance.has_value()},
                                                {"--min-sqnr", of_result.min_sqnr.has_value()},
                                                {"--min-agreement", of_result.min_agreement.has_value()},
                                                {"--max-drop", of_result.max_drop.has_value()},
                                                {"--max-size", of_result.max_size.has_value()},
                                                {"--max-memory", verb.max_memory.has_value()},
                                                {"--min-speedup", verb.min_speedup.has_value()},
                                                {"--max-latency", verb.max_latency_ms.has_value()},
                                                {"--baseline", !verb.baseline.empty()},
                                                {"--max-regress", verb.max_regress.has_value()},
                                                {"--strict", verb.strict}};
  for (const auto& [name, given] : gates)
    if (given) return name;
  return {};
}

Model read_source(const VerbOptions& verb) {
  if (!verb.metric.empty() && verb.data.spec.empty())
    usage_error("--metric needs labelled data", "--metric", "add --data");
  refuse_sizes_of_stored(verb.data);
  if (verb.samples < 1) usage_error("at least one sample is compared", "--samples");
  if (!(verb.bench_seconds() > 0 && verb.bench_seconds() <= kMaxSeconds))
    usage_error(fmt::format("the time to measure must be above 0 and at most {} s", kMaxSeconds), "--bench");
  Model model = read_model(verb.model);
  const std::vector<std::string> findings = verify(model);
  if (!findings.empty()) input_error(findings.front(), verb.model, "mlopt check says more");
  return model;
}

Model begin_verb(const VerbOptions& verb, Session& session) {
  if (verb.output.empty()) usage_error("no file is named", "--output");
  if (verb.output == "-") session.claim_stdout("-o -");
  if (verb.external == "yes" && !takes_external(verb.output))
    usage_error("external data cannot lie beside standard output, a device or a pipe", "--external",
                "write the model to a file");
  check_gates(verb.gates, verb.metric);
  if (verb.no_bench && (verb.min_speedup || verb.max_latency_ms)) {
    usage_error("--no-bench leaves nothing to judge for --min-speedup and --max-latency", "--no-bench");
  }
  if (verb.max_regress && verb.baseline.empty())
    usage_error("--max-regress needs --baseline", "--max-regress", "give an earlier report of --json");
  if (!verb.baseline.empty()) read_baseline(verb.baseline);
  return read_source(verb);
}

}  // namespace mlopt::cli
