#include "cli/quantize/report.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "cli/comparison.h"
#include "core/base/text.h"

namespace mlopt::cli {
namespace {

constexpr size_t kWorstShown = 5;

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

}  // namespace

void report_made(const quantize::Quantized& made, const quantize::Spec& spec, Report& report) {
  report.line(fmt::format("{} layers in {}{}", made.layers, quantize::name(spec),
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
  report_fallbacks(made, spec, report);
}

void report_layers(const quantize::Quantized& made, Report& report) {
  Json& all = report.data["layers"] = Json::array();
  for (const quantize::LayerError& e : made.errors)
    all.push_back(Json::object({{"layer", e.layer},
                                {"op", e.op},
                                {"sqnr_db", shown_sqnr(e.difference)},
                                {"max_abs", e.difference.max_abs},
                                {"cosine", e.difference.cosine}}));
  if (made.errors.empty()) return;
  Table& table = report.table("layers furthest from the source", {"layer", "operator", "SQNR", "largest difference"});
  table.left = 2;
  for (size_t i = 0; i < std::min(kWorstShown, made.errors.size()); ++i) {
    const quantize::LayerError& e = made.errors[i];
    table.rows.push_back({e.layer, e.op, sqnr_words(e.difference), fmt::format("{:.3g}", e.difference.max_abs)});
  }
}

void report_weights(const quantize::Quantized& made, Report& report) {
  if (made.weights.empty()) return;
  constexpr double kBits = 8;
  const auto per_number = [](int64_t bytes, int64_t elements) {
    return fmt::format("{:.2f}", kBits * static_cast<double>(bytes) / static_cast<double>(elements));
  };
  Json& all = report.data["weights"] = Json::array();
  int64_t bytes = 0, elements = 0;
  for (const quantize::StoredWeight& w : made.weights) {
    all.push_back(Json::object({{"layer", w.layer},
                                {"weight", w.weight},
                                {"format", w.format},
                                {"form", w.form},
                                {"elements", w.elements},
                                {"bytes", w.bytes},
                                {"entropy_coded_bytes", w.entropy_coded_bytes},
                                {"sqnr_db", w.sqnr_db}}));
    bytes += w.bytes;
    elements += w.elements;
  }
  report.line(fmt::format("{} weights of {} numbers in {} bits each, with all that says what they stand for",
                          made.weights.size(), elements, per_number(bytes, elements)));
  std::vector<quantize::StoredWeight> worst = made.weights;
  std::stable_sort(worst.begin(), worst.end(), [](const auto& a, const auto& b) { return a.sqnr_db < b.sqnr_db; });
  Table& table = report.table("weights furthest from the source", {"layer", "form", "bits each", "SQNR"});
  table.left = 2;
  for (size_t i = 0; i < std::min(kWorstShown, worst.size()); ++i)
    table.rows.push_back({worst[i].layer, worst[i].form, per_number(worst[i].bytes, worst[i].elements),
                          fmt::format("{:.1f} dB", worst[i].sqnr_db)});
}

void report_entropy(const quantize::Quantized& made, Report& report) {
  const Json *before = report.data["source"].find("size_bytes"), *after = report.data["result"].find("size_bytes");
  if (made.weights.empty() || !before || !after) return;
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
