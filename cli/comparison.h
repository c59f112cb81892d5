#pragma once
#include "core/calib/compare_runs.h"
#include "core/report/report.h"

namespace mlopt::cli {

/// The key `outputs` of `compare` and of a verb's `verify`. The SQNR of equal outputs, which is infinite, is written as
/// 999.
Json to_json(const RunComparison& comparison);
/// A row for each output.
void add_table(const RunComparison& comparison, Report& report);
/// "no difference" or "at most 0.00012 (SQNR 98.2 dB)": of the worst output.
std::string in_words(const RunComparison& comparison);

}  // namespace mlopt::cli
