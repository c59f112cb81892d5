#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/options.h"
#include "core/calib/compare_runs.h"
#include "core/calib/score.h"
#include "core/measure/ratio.h"
#include "core/report/report.h"

namespace mlopt::cli {

/// "12.5%" or "12.5" as 12.5; throws Error{kUsage}.
struct Percent {
  double value = 0;
};
template <>
Percent parse_value<Percent>(const std::string& text);

/// "40M" in bytes, or "60%" of the source; throws Error{kUsage}.
struct SizeLimit {
  double value = 0;
  bool percent = false;

  int64_t bytes(int64_t source) const {
    const double wanted = percent ? value / 100 * static_cast<double>(source) : value;
    return static_cast<int64_t>(std::min(wanted, 0x1p62));
  }
};
template <>
SizeLimit parse_value<SizeLimit>(const std::string& text);

/// Limits on how far a result may be from its source. A figure that is missing fails its gate.
struct ResultGates {
  std::optional<double> tolerance;       ///< of the largest difference, as a share of the output's largest value
  std::optional<double> min_sqnr;        ///< dB
  std::optional<Percent> min_agreement;  ///< of arg-max
  std::optional<Percent> max_drop;       ///< points of the metric
  std::optional<SizeLimit> max_size;
};
void declare_gates(Options& options, ResultGates& gates);
/// Throws Error{kUsage} for limits that nothing can hold, and for --max-drop without a metric.
void check_gates(const ResultGates& gates, const std::string& metric);

/// A gate on a figure that was measured, at most `limit`: it holds when all of the interval does, and says
/// "inconclusive" when only a part does.
Gate interval_gate(const char* name, double limit, double value, double low, double high, const std::string& words);

/// --min-speedup: all of the interval reaches the limit. `what` begins the words.
Gate speedup_gate(const Ratio& ratio, double limit, const std::string& what);

/// What the gates judge, as far as it is known.
struct ResultFigures {
  const RunComparison* comparison = nullptr;
  std::optional<Score> source_score, result_score;
  int64_t source_bytes = 0, result_bytes = 0;
};
/// Those that were asked for. Throws Error{kUsage} when --max-drop was given without a metric.
std::vector<Gate> judge(const ResultGates& gates, const ResultFigures& figures);

}  // namespace mlopt::cli
