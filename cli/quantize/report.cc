#include "cli/quantize/report.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "cli/comparison.h"
#include "core/base/text.h"
#include "core/ir/stored_weights.h"

namespace mlopt::cli {
namespace {

constexpr size_t kWorstShown = 5;
constexpr double kEqualSqnr = 999;  // as shown_sqnr()

Json to_json(const quantize::Coverage& c) {
  return Json::object({{"low", c.low}, {"high", c.high}, {"clipped", c.clipped}});
}

std::string range_words(const quantize::Coverage& c) { return fmt::format("{:.3g} to {:.3g}", c.low, c.high); }

std::string clipped_words(const quantize::Coverage& c) {
  constexpr double kLeastShown = 0.0001;  // in percent
  const double percent = 100 * c.clipped;
  return percent == 0 ? "0 %" : fmt::format("{:.2g} %", std::max(percent, kLeastShown));
}

/// Layers whose weights the method did not round; all of them as the key `fell_back`.
void report_fallbacks(const quantize::Quantized& made, const quantize::Spec& spec, Report& report) {
  if (made.fell_back.empty()) return;
  std::map<std::string, std::vector<std::string>> by_reason;
  Json& all = report.data["fell_back"] = Json::array();
  for (const auto& [layer, reason] : made.fell_back) {
    by_reason[reason].push_back(layer);
    all.push_back(Json::object({{"layer", layer}, {"rounded", reason}}));
  }
  for (const auto& [reason, layers] : by_reason)
    report.line(fmt::format("{} did not round {}{}: rounded {}", spec.method, layers[0],
                            layers.size() == 1 ? "" : fmt::format(" and {} more", layers.size() - 1), reason));
}

/// "w8", or with a plan "w4 (1), w8 (17)", the weights of each counted.
std::string format_words(const quantize::Quantized& made, const quantize::Spec& spec) {
  if (spec.plan.empty() || made.weights.empty()) return quantize::name(spec);
  std::map<std::string, int64_t> counts;
  for (const quantize::StoredWeight& w : made.weights) ++counts[w.format];
  std::vector<std::string> words;
  for (const auto& [format, count] : counts) words.push_back(fmt::format("{} ({})", format, count));
  return join(words, ", ");
}

}  // namespace

void report_made(const quantize::Quantized& made, const quantize::Spec& spec, Report& report) {
  report.line(fmt::format("{} layers in {}{}", made.layers, format_words(made, spec),
                          made.samples ? fmt::format(", calibrated on {} samples{}", made.samples,
                                                     made.cached ? " (kept by an earlier run)" : "")
                                       : ""));
  if (made.restored) report.line(fmt::format("{} nodes on codes read back to floats before", made.restored));
  if (made.rotated) report.line(fmt::format("{} residual streams rotated", made.rotated));
  if (made.equalized) report.line(fmt::format("{} pairs of layers equalized", made.equalized));
  if (made.split) report.line(fmt::format("{} layers multiply their outliers in float", made.split));
  if (made.decided)
    report.line(fmt::format("a run takes {:.2f} of the source's time, as measured for the choice", made.time));
  if (made.corrected) report.line(fmt::format("{} biases corrected", made.corrected));
  if (std::any_of(made.weights.begin(), made.weights.end(), [](const auto& w) { return w.form == "matmulnbits"; })) {
    report.data["accuracy_level"] = spec.rounding_level();
    if (spec.rounding_level() == kByteLevel)
      report.line("MatMulNBits rounds what it multiplies to 8 bits (--accuracy-level 0 leaves it in float32)");
  }
  report_fallbacks(made, spec, report);
}

void report_layers(const quantize::Quantized& made, Report& report) {
  Json& all = report.data["layers"] = Json::array();
  for (const quantize::LayerError& e : made.errors) {
    Json row = Json::object({{"layer", e.layer},
                             {"op", e.op},
                             {"sqnr_db", shown_sqnr(e.difference)},
                             {"max_abs", e.difference.max_abs},
                             {"cosine", e.difference.cosine}});
    if (e.share) row["error_share"] = *e.share;
    if (e.input) row["input"] = to_json(*e.input);
    all.push_back(std::move(row));
  }
  if (made.errors.empty()) return;
  std::vector<quantize::LayerError> worst = made.errors;
  const auto has_share = [](const auto& e) { return e.share.has_value(); };
  const bool shares = std::any_of(worst.begin(), worst.end(), has_share),
             all_shares = std::all_of(worst.begin(), worst.end(), has_share);
  if (all_shares)
    std::stable_sort(worst.begin(), worst.end(), [](const auto& a, const auto& b) { return *a.share > *b.share; });
  const bool inputs = std::any_of(worst.begin(), worst.end(), [](const auto& e) { return e.input.has_value(); });
  Table& table = report.table(all_shares ? "layers that cost the outputs most" : "layers furthest from the source",
                              {"layer", "operator"});
  table.left = 2;
  const auto columns = [&](std::initializer_list<const char*> names) {
    table.columns.insert(table.columns.end(), names.begin(), names.end());
  };
  if (inputs) columns({"input's range", "clipped"});
  columns({"SQNR", "largest difference"});
  if (shares) columns({"share of error"});
  for (size_t i = 0; i < std::min(kWorstShown, worst.size()); ++i) {
    const quantize::LayerError& e = worst[i];
    std::vector<std::string>& row = table.rows.emplace_back(std::vector{e.layer, e.op});
    if (inputs)
      row.push_back(e.input ? range_words(*e.input) : ""), row.push_back(e.input ? clipped_words(*e.input) : "");
    row.push_back(sqnr_words(e.difference));
    row.push_back(fmt::format("{:.3g}", e.difference.max_abs));
    if (shares) row.push_back(e.share ? fmt::format("{:.1f} %", 100 * *e.share) : "");
  }
}

void report_weights(const quantize::Quantized& made, Report& report) {
  if (made.weights.empty()) return;
  Json& all = report.data["weights"] = Json::array();
  int64_t bytes = 0, elements = 0;
  for (const quantize::StoredWeight& w : made.weights) {
    Json row = Json::object({{"layer", w.layer},
                             {"weight", w.weight},
                             {"format", w.format},
                             {"form", w.form},
                             {"elements", w.elements},
                             {"bytes", w.bytes},
                             {"sqnr_db", std::clamp(w.sqnr_db, -kEqualSqnr, kEqualSqnr)}});
    row["low"] = w.coverage.low;
    row["high"] = w.coverage.high;
    row["clipped"] = w.coverage.clipped;
    if (w.entropy_coded_bytes > 0) row["entropy_coded_bytes"] = w.entropy_coded_bytes;
    all.push_back(std::move(row));
    bytes += w.bytes;
    elements += w.elements;
  }
  constexpr double kBits = 8;
  report.line(fmt::format("{} weights of {} numbers in {:.2f} bits each, with all that says what they stand for",
                          made.weights.size(), elements,
                          kBits * static_cast<double>(bytes) / static_cast<double>(std::max<int64_t>(1, elements))));
  std::vector<quantize::StoredWeight> worst = made.weights;
  std::stable_sort(worst.begin(), worst.end(), [](const auto& a, const auto& b) { return a.sqnr_db < b.sqnr_db; });
  Table& table =
      report.table("weights furthest from the source", {"layer", "format", "form", "size", "range", "clipped", "SQNR"});
  table.left = 3;
  for (size_t i = 0; i < std::min(kWorstShown, worst.size()); ++i) {
    const quantize::StoredWeight& w = worst[i];
    table.rows.push_back({w.layer, w.format, w.form, format_bytes(static_cast<double>(w.bytes)),
                          range_words(w.coverage), clipped_words(w.coverage),
                          w.sqnr_db >= kEqualSqnr ? "equal" : fmt::format("{:.1f} dB", w.sqnr_db)});
  }
}

void report_entropy(const quantize::Quantized& made, Report& report) {
  const Json *before = report.data["source"].find("size_bytes"), *after = report.data["result"].find("size_bytes");
  const auto known = [](const auto& w) { return w.entropy_coded_bytes > 0; };
  if (made.weights.empty() || !std::all_of(made.weights.begin(), made.weights.end(), known) || !before || !after)
    return;
  int64_t bytes = after->integer();
  for (const quantize::StoredWeight& w : made.weights) bytes += w.entropy_coded_bytes - w.bytes;
  report.data["entropy_coded_bytes"] = bytes;
  if (bytes >= after->integer()) return;  // codes of few bits, each of which is used: nothing to tell
  report.line(fmt::format(
      "entropy-coded, each code by how often it occurs in its tensor, the file would take {}: "
      "{:.1f}x less than the source",
      format_bytes(static_cast<double>(bytes)), static_cast<double>(before->integer()) / static_cast<double>(bytes)));
}

}  // namespace mlopt::cli
