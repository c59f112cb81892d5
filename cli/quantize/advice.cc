#include "cli/quantize/advice.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "cli/completion.h"
#include "core/base/text.h"

namespace mlopt::cli {
namespace {

constexpr size_t kMostLayers = 3;
constexpr double kFine = 1e-3;       // of the outputs' squares: 30 dB
constexpr double kLeastShare = 0.2;  // of the error
constexpr double kAboveOthers = 2;   // times the share that each would have if all had the same
constexpr int64_t kScaleBytes = 4;

/// What would keep layers more exact.
struct Remedy {
  bool bytes_each = false;          ///< weights of 8 bits; else the layers stay in float32
  std::vector<std::string> layers;  ///< "/head/MatMul: 38 %"
  std::string list;                 ///< as the option has them
  Json shares = Json::array();
  int64_t bytes = 0;  ///< more than now

  void add(const quantize::LayerError& e, const quantize::StoredWeight& w) {
    layers.push_back(fmt::format("{}: {:.0f} %", e.layer, 100 * *e.share));
    const std::string entry = bytes_each ? Json(e.layer).dump() + R"(: "w8")" : e.layer;
    list += (list.empty() ? "" : bytes_each ? ", " : ",") + entry;
    shares.push_back(Json::object({{"layer", e.layer}, {"error_share", *e.share}}));
    bytes += bytes_each ? w.elements + w.rows * kScaleBytes - w.bytes
                        : w.elements * static_cast<int64_t>(sizeof(float)) - w.bytes;
  }
  std::string option(bool planned) const {
    if (!bytes_each) return "--skip " + shell_quoted(list);
    return planned ? list + " in the --layer-plan" : "--layer-plan " + shell_quoted("{" + list + "}");
  }
};

/// Weights of fewer bits get eight; others stay float.
bool can_have_bytes(const quantize::StoredWeight& weight, const quantize::Spec& spec) {
  constexpr double kNearlyEight = 7;
  const double bits = 8 * static_cast<double>(weight.bytes) / static_cast<double>(weight.elements);
  return spec.format == quantize::Format::kWeights && bits < kNearlyEight;
}

std::vector<quantize::LayerError> outstanding(const quantize::Quantized& made) {
  const double least = std::max(kLeastShare, kAboveOthers / static_cast<double>(made.errors.size()));
  std::vector<quantize::LayerError> found;
  for (const quantize::LayerError& e : made.errors)
    if (e.share && *e.share >= least) found.push_back(e);
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return *a.share > *b.share; });
  if (found.size() > kMostLayers) found.resize(kMostLayers);
  return found;
}

}  // namespace

void report_advice(const quantize::Quantized& made, const quantize::Spec& spec, bool planned, Report& report) {
  Json& all = report.data["advice"] = Json::array();
  const Json* size = report.data["result"].find("size_bytes");
  if (made.output_error < kFine || spec.budget || !size) return;
  std::array<Remedy, 2> remedies;
  remedies[0].bytes_each = true;
  for (const quantize::LayerError& e : outstanding(made)) {
    const auto weight =
        std::find_if(made.weights.begin(), made.weights.end(), [&](const auto& w) { return w.layer == e.layer; });
    if (weight != made.weights.end()) remedies[can_have_bytes(*weight, spec) ? 0 : 1].add(e, *weight);
  }
  for (const Remedy& r : remedies) {
    if (r.layers.empty()) continue;
    const double more = 100 * static_cast<double>(r.bytes) / static_cast<double>(size->integer());
    const std::string option = r.option(planned);
    report.line(fmt::format("{} of the outputs' error; keep {} {} with {}: {:+.2g} % size", join(r.layers, ", "),
                            r.layers.size() == 1 ? "it" : "them", r.bytes_each ? "in 8 bits" : "in float32", option,
                            more));
    all.push_back(Json::object({{"layers", r.shares}, {"option", option}, {"size_percent", more}}));
  }
}

}  // namespace mlopt::cli
