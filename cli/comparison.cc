#include "cli/comparison.h"

#include <fmt/core.h>

#include <algorithm>

namespace mlopt::cli {
namespace {

constexpr double kEqualSqnr = 999;  // JSON has no infinity, and scripts compare numbers

}  // namespace

double shown_sqnr(const Difference& d) {
  return d.same_nonfinite ? std::clamp(d.sqnr_db, -kEqualSqnr, kEqualSqnr) : -kEqualSqnr;
}

std::string sqnr_words(const Difference& d) {
  return shown_sqnr(d) >= kEqualSqnr ? "equal" : fmt::format("{:.1f} dB", shown_sqnr(d));
}

Json to_json(const Score& score) {
  return Json::object({{"metric", score.metric}, {"value", score.value}, {"samples", score.samples}});
}

Json to_json(const RunComparison& comparison) {
  Json outputs = Json::array();
  for (const OutputComparison& output : comparison.outputs) {
    Json item = Json::object({{"name", output.name}});
    if (output.difference) {
      const Difference& d = *output.difference;
      const auto known = [&](double number) { return d.same_nonfinite ? Json(number) : Json(); };
      item["max_abs"] = known(d.max_abs);
      item["max_rel"] = known(d.max_rel);
      item["max_expected"] = d.max_expected;
      item["sqnr_db"] = shown_sqnr(d);
      item["cosine"] = known(d.cosine);
      item["argmax_agreement"] = d.same_nonfinite ? d.argmax_agreement : 0;
      item["same_nonfinite"] = d.same_nonfinite;
    } else {
      item["problem"] = output.problem;
    }
    outputs.push_back(std::move(item));
  }
  return outputs;
}

void add_table(const RunComparison& comparison, Report& report) {
  Table& table = report.table("", {"output", "max abs", "max rel", "SQNR", "cosine", "arg-max agrees"});
  for (const OutputComparison& output : comparison.outputs) {
    if (!output.difference) {
      table.rows.push_back({output.name, output.problem, "", "", "", ""});
      continue;
    }
    const Difference& d = *output.difference;
    if (!d.same_nonfinite) {  // the figures are of the other elements
      table.rows.push_back(
          {output.name + " (NaN or infinity in one only)", "inf", "inf", sqnr_words(d), "-", "0.00 %"});
      continue;
    }
    table.rows.push_back({output.name, fmt::format("{:.4g}", d.max_abs), fmt::format("{:.4g}", d.max_rel),
                          sqnr_words(d), fmt::format("{:.6f}", d.cosine),
                          fmt::format("{:.2f} %", 100 * d.argmax_agreement)});
  }
}

std::string in_words(const RunComparison& comparison) {
  const Difference* worst = nullptr;
  for (const OutputComparison& output : comparison.outputs) {
    if (!output.difference) return fmt::format("output '{}': {}", output.name, output.problem);
    const Difference& d = *output.difference;
    if (!d.same_nonfinite) return fmt::format("output '{}': NaN or infinity in one only", output.name);
    if (!worst || d.sqnr_db < worst->sqnr_db) worst = &d;
  }
  if (!worst || worst->max_abs == 0) return "no difference";
  return fmt::format("at most {:.3g} where values reach {:.3g} (SQNR {})", worst->max_abs, worst->max_expected,
                     sqnr_words(*worst));
}

}  // namespace mlopt::cli
