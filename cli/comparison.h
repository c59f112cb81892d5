#pragma once
#include "core/calib/compare_runs.h"
#include "core/calib/score.h"
#include "core/report/report.h"

namespace mlopt::cli {

/// The SQNR from -999 to 999 dB: 999 when both are equal, -999 when zero was expected, or only one has NaN or infinity.
double shown_sqnr(const Difference& difference);
/// "43.1 dB", "equal".
std::string sqnr_words(const Difference& difference);

/// As `.score` of `eval` and of the verbs.
Json to_json(const Score& score);
/// The key `outputs` of `compare` and of a verb's `verify`.
Json to_json(const RunComparison& comparison);
/// A row for each output.
void add_table(const RunComparison& comparison, Report& report);
/// "no difference" or "at most 0.00012 (SQNR 98.2 dB)": of the worst output.
std::string in_words(const RunComparison& comparison);

}  // namespace mlopt::cli
