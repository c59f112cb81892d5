#include "cli/gates.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "cli/comparison.h"
#include "core/base/error.h"
#include "core/base/text.h"

namespace mlopt::cli {
namespace {

constexpr double kHopeless = -999;  // below every SQNR that is shown, and every share

std::optional<double> percent_in(const std::string& text) {
  const std::optional<double> number = parse_double(text.ends_with("%") ? text.substr(0, text.size() - 1) : text);
  return number && *number >= 0 ? number : std::nullopt;
}

/// The worst figure over all outputs; an output that could not be compared is worst.
template <class Figure>
double worst(const RunComparison& comparison, const Figure& figure, bool larger_is_worse) {
  const double hopeless = larger_is_worse ? std::numeric_limits<double>::infinity() : kHopeless;
  double found = larger_is_worse ? 0 : std::numeric_limits<double>::infinity();
  for (const OutputComparison& output : comparison.outputs) {
    const bool usable = output.difference && output.difference->same_nonfinite;
    const double value = usable ? figure(*output.difference) : hopeless;
    found = larger_is_worse ? std::max(found, value) : std::min(found, value);
  }
  return found;
}

double relative_error(const Difference& d) { return d.max_expected > 0 ? d.max_abs / d.max_expected : d.max_abs; }

Gate numeric_gate(const char* name, double limit, double value, bool holds, const std::string& what) {
  return {name, limit, value, holds, fmt::format("{} is {:.4g}, the limit is {:.4g}", what, value, limit)};
}

void judge_comparison(const ResultGates& gates, const RunComparison* comparison, std::vector<Gate>& judged) {
  const auto missing = [&](const char* name, double limit) {
    judged.push_back({name, limit, Json(), false, "the outputs could not be compared"});
  };
  if (gates.tolerance) {
    if (!comparison) return missing("tolerance", *gates.tolerance);
    const double value = worst(*comparison, relative_error, true);
    judged.push_back(numeric_gate("tolerance", *gates.tolerance, value, value <= *gates.tolerance,
                                  "the largest difference, as a share of the output's largest value,"));
  }
  if (gates.min_sqnr) {
    if (!comparison) return missing("min-sqnr", *gates.min_sqnr);
    const double value = worst(*comparison, shown_sqnr, false);
    judged.push_back(
        numeric_gate("min-sqnr", *gates.min_sqnr, value, value >= *gates.min_sqnr, "the lowest SQNR in dB"));
  }
  if (gates.min_agreement) {
    const double limit = gates.min_agreement->value;
    if (!comparison) return missing("min-agreement", limit);
    const auto has_rows = [](const OutputComparison& o) { return !o.difference || o.difference->rows > 0; };
    if (std::none_of(comparison->outputs.begin(), comparison->outputs.end(), has_rows)) {
      judged.push_back({"min-agreement", limit, Json(), false, "no output has classes whose arg-max could agree"});
      return;
    }
    const double value = 100 * worst(
                                   *comparison, [](const Difference& d) { return d.argmax_agreement; }, false);
    judged.push_back(numeric_gate("min-agreement", limit, std::clamp(value, 0.0, 100.0), value >= limit,
                                  "the lowest arg-max agreement in percent"));
  }
}

Gate drop_gate(double limit, const Score& source, const Score& result) {
  const MetricDef metric = find_metric(source.metric);
  const double points = metric.share ? 100 : 1;
  const double drop = points * (metric.higher_is_better ? source.value - result.value : result.value - source.value);
  const bool holds = drop <= limit + 1e-9;  // 0.5 points of 200 samples is one sample, whatever the rounding
  return {"max-drop", limit, drop, holds,
          fmt::format("{} went from {} to {}, a drop of {:.4g}, the limit is {:.4g}", source.metric, in_words(source),
                      in_words(result), drop, limit)};
}

}  // namespace

template <>
Percent parse_value<Percent>(const std::string& text) {
  const std::optional<double> value = percent_in(text);
  if (!value) usage_error(fmt::format("'{}' is no percentage", text), {}, "a number from 0, for example 0.5 or 99.5%");
  return {*value};
}

template <>
SizeLimit parse_value<SizeLimit>(const std::string& text) {
  if (text.ends_with("%")) {
    if (const auto value = percent_in(text)) return {*value, true};
  } else if (const auto bytes = parse_bytes(text)) {
    return {static_cast<double>(*bytes), false};
  }
  usage_error(fmt::format("'{}' is no size", text), {}, "for example 40M, or 60% of the source");
}

void declare_gates(Options& options, ResultGates& gates) {
  options.add("--tolerance", gates.tolerance, "T",
              "gate: the largest difference of an output, as a share of its largest value, is at most T");
  options.add("--min-sqnr", gates.min_sqnr, "DB", "gate: the SQNR of every output is at least DB");
  options.add("--min-agreement", gates.min_agreement, "P%",
              "gate: the arg-max agrees in P% of the rows of every output");
  options.add("--max-drop", gates.max_drop, "P", "gate: the score drops by at most P points of --metric");
  options.add("--max-size", gates.max_size, "X", "gate: the size is at most X bytes (40M), or X% of the source");
}

void check_gates(const ResultGates& gates, const std::string& metric) {
  if (gates.tolerance && *gates.tolerance < 0) usage_error("a difference is never below 0", "--tolerance");
  if (gates.min_agreement && gates.min_agreement->value > 100) usage_error("at most 100 % agree", "--min-agreement");
  if (gates.max_drop && metric.empty()) usage_error("a drop needs a score", "--max-drop", "add --metric");
}

Gate interval_gate(const char* name, double limit, double value, double low, double high, const std::string& words) {
  const bool holds = value <= limit && high <= limit;
  const bool unclear = !holds && std::min(value, low) <= limit;
  return {name, limit, value, holds,
          unclear ? fmt::format("{}: inconclusive ({:.4g} to {:.4g})", words, low, high) : words};
}

Gate speedup_gate(const Ratio& ratio, double limit, const std::string& what) {
  const bool holds = !ratio.rests_on_few() && ratio.low >= limit;
  const bool unclear = !holds && ratio.high >= limit && !ratio.inconclusive();
  return {"min-speedup", limit, ratio.low, holds,
          fmt::format("{}{}, the limit is {:.4g}x{}", what, in_words(ratio), limit, unclear ? ": inconclusive" : "")};
}

std::vector<Gate> judge(const ResultGates& gates, const ResultFigures& figures) {
  std::vector<Gate> judged;
  judge_comparison(gates, figures.comparison, judged);
  if (gates.max_drop) {
    if (!figures.source_score || !figures.result_score) {
      usage_error("--max-drop needs a score", {}, "add --metric and labelled --data");
    }
    judged.push_back(drop_gate(gates.max_drop->value, *figures.source_score, *figures.result_score));
  }
  if (gates.max_size) {
    const int64_t limit = gates.max_size->bytes(figures.source_bytes);
    judged.push_back({"max-size", limit, figures.result_bytes, figures.result_bytes <= limit,
                      fmt::format("the size is {} ({} bytes), the limit is {}",
                                  format_bytes(static_cast<double>(figures.result_bytes)), figures.result_bytes,
                                  format_bytes(static_cast<double>(limit)))});
  }
  return judged;
}

}  // namespace mlopt::cli
