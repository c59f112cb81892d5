#include <fmt/core.h>

#include "cli/comparison.h"
#include "cli/verb/verb.h"
#include "core/base/text.h"
#include "core/data/metrics.h"

namespace mlopt::cli {
namespace {

std::string percent(double result, double source) {
  return source > 0 ? fmt::format("{:.1f} %", 100 * result / source) : "";
}

std::string size(int64_t bytes) { return format_bytes(static_cast<double>(bytes)); }

/// In points where the metric is shown in percent.
std::string score_change(const Score& source, const Score& result) {
  const double change = result.value - source.value;
  return find_metric(source.metric).share ? fmt::format("{:+.2f} points", 100 * change)
                                          : fmt::format("{:+.4g}", change);
}

}  // namespace

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
                          score_change(e.scores->source, e.scores->result)});
  }
  if (e.latency.left_out.empty()) {
    table.rows.push_back({"p50 latency", fmt::format("{:.3f} ms", e.latency.source.p50),
                          fmt::format("{:.3f} ms", e.latency.result.p50), in_words(e.latency.ratio)});
  }
  if (e.verification.comparison) {
    report.line(fmt::format("difference on {} samples of {} ({}): {}", e.verification.comparison->samples,
                            e.verification.data, e.verification.device, in_words(*e.verification.comparison)));
  }
  if (!e.latency.left_out.empty()) report.line("latency not measured: " + e.latency.left_out);
  for (const std::string& sentence : e.not_verified) report.line("not verified: " + sentence);
}

void add_figures(const VerbOptions& verb, const Ending& e, Plans& plans, Json& data) {
  Json verify = Json::object({{"data", e.verification.data}, {"device", e.verification.device}});
  if (!verb.data.shapes.empty()) verify["shape"] = join(verb.data.shapes, ",");
  if (!verb.data.ranges.empty()) verify["range"] = join(verb.data.ranges, ",");
  if (e.verification.comparison) {
    verify["samples"] = e.verification.comparison->samples;
    verify["outputs"] = to_json(*e.verification.comparison);
  } else {
    verify["problem"] = e.verification.problem;
  }
  data["verify"] = std::move(verify);
  if (e.scores)
    data["score"] = Json::object({{"source", to_json(e.scores->source)}, {"result", to_json(e.scores->result)}});
  data["latency"] = latency_json(verb, e, plans);
  data["not_verified"] = e.not_verified;
}

}  // namespace mlopt::cli
