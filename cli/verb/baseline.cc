#include <fmt/core.h>

#include <cmath>
#include <initializer_list>

#include "cli/environment.h"
#include "cli/verb/verb.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/data/metrics.h"

namespace mlopt::cli {
namespace {

/// The member at the end of the path, or null.
const Json* find(const Json& json, std::initializer_list<const char*> path) {
  const Json* at = &json;
  for (const char* key : path) {
    if (!at || !at->is_object()) return nullptr;
    at = at->find(key);
  }
  return at;
}

std::optional<double> number(const Json& json, std::initializer_list<const char*> path) {
  const Json* at = find(json, path);
  return at && at->is_number() ? std::optional(at->number()) : std::nullopt;
}

/// p50 of the result, the second of the two models.
std::optional<double> p50(const Json& report) {
  const Json* models = find(report, {"latency", "models"});
  if (!models || !models->is_array() || models->items().size() < 2) return std::nullopt;
  return number(models->items()[1], {"latency_ms", "p50"});
}

/// Do the reports hold different things there, or does one lack it?
bool differs(const Json& earlier, const Json& report, std::initializer_list<const char*> path) {
  const Json *before = find(earlier, path), *now = find(report, path);
  return before && now ? before->dump() != now->dump() : before || now;
}

constexpr const char* kOtherInputs = "inputs of another shape or range";

bool other_inputs(const Json& earlier, const Json& report) {
  return differs(earlier, report, {"verify", "shape"}) || differs(earlier, report, {"verify", "range"});
}

/// How much worse a figure may be.
double limit_of(const VerbOptions& verb) { return verb.max_regress.value_or(Percent{5}).value; }

struct Figure {
  const char* name;
  std::optional<double> before, now;
  bool more_is_worse = true;
  std::string not_comparable;  ///< why not
};

Gate judge_one(const Figure& figure, const VerbOptions& verb) {
  const double limit = limit_of(verb);
  if (!figure.not_comparable.empty() || !figure.before || !figure.now) {
    const std::string why = figure.not_comparable.empty() ? "one report lacks it" : figure.not_comparable;
    return {"max-regress", limit, Json(), !verb.strict,
            fmt::format("{}: not comparable with {} ({})", figure.name, verb.baseline, why)};
  }
  const double change = *figure.before != 0 ? 100 * (*figure.now - *figure.before) / std::abs(*figure.before)
                        : *figure.now == 0  ? 0
                                            : 100;
  const double worse = figure.more_is_worse ? change : -change;
  return {"max-regress", limit, worse, worse <= limit + 1e-9,
          fmt::format("{} changed by {:+.1f} % ({:.6g}, was {:.6g}), the limit is {:.1f} %", figure.name, change,
                      *figure.now, *figure.before, limit)};
}

Figure score_figure(const Json& earlier, const Json& report) {
  Figure figure{"the score", number(earlier, {"score", "result", "value"}),
                number(report, {"score", "result", "value"}), true, ""};
  const Json *before = find(earlier, {"score", "result", "metric"}), *now = find(report, {"score", "result", "metric"});
  if (now) figure.more_is_worse = !find_metric(now->string()).higher_is_better;
  if (before && now && before->dump() != now->dump()) figure.not_comparable = "another metric";
  if (differs(earlier, report, {"verify", "data"}) || differs(earlier, report, {"score", "result", "samples"}))
    figure.not_comparable = "other data";
  if (other_inputs(earlier, report)) figure.not_comparable = kOtherInputs;
  return figure;
}

/// The 95 % interval of p50 decides, as everywhere.
Gate judge_latency(const VerbOptions& verb, const SideBySide& latency, const Json& earlier, const Json& report) {
  Figure figure{"p50 latency", p50(earlier), p50(report), true, ""};
  const Json *before = find(earlier, {"environment"}), *now = find(report, {"environment"});
  if (!before || !now || !same_machine(*before, *now)) figure.not_comparable = "another machine or setting";
  if (other_inputs(earlier, report)) figure.not_comparable = kOtherInputs;
  Gate plain = judge_one(figure, verb);
  if (plain.value.is_null() || *figure.before <= 0) return plain;
  const auto change = [&](double ms) { return 100 * (ms / *figure.before - 1); };
  return interval_gate("max-regress", limit_of(verb), change(*figure.now), change(latency.result_p50.low),
                       change(latency.result_p50.high), plain.words);
}

}  // namespace

Json read_baseline(const std::string& path) {
  Json earlier = Json::parse(read_file(path), path);
  if (!number(earlier, {"result", "size_bytes"})) {
    input_error("the file is no report of a command that writes a model", path, "give what --json wrote");
  }
  return earlier;
}

std::vector<Gate> judge_regress(const VerbOptions& verb, const SideBySide& latency, const Json& report) {
  if (verb.baseline.empty()) return {};
  const Json earlier = read_baseline(verb.baseline);
  std::vector<Figure> figures = {
      {"the size", number(earlier, {"result", "size_bytes"}), number(report, {"result", "size_bytes"}), true, ""}};
  if (find(earlier, {"score"}) || find(report, {"score"})) figures.push_back(score_figure(earlier, report));
  std::vector<Gate> gates;
  for (const Figure& figure : figures) gates.push_back(judge_one(figure, verb));
  if (!verb.no_bench || p50(earlier)) gates.push_back(judge_latency(verb, latency, earlier, report));
  return gates;
}

}  // namespace mlopt::cli
