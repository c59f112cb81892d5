#include "quantize/error_shares.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <optional>
#include <string_view>

#include "core/rewrite/pass.h"
#include "quantize/float_again.h"
#include "quantize/outputs.h"

namespace mlopt::quantize {
namespace {

using ByLayer = std::map<std::string_view, LayerError*>;

ByLayer by_layer(std::vector<LayerError>& errors) {
  ByLayer found;
  for (LayerError& error : errors) found.emplace(error.layer, &error);
  return found;
}

struct Candidate {
  const LayerValue* layer;
  LayerError* error;
  double growth;  ///< of the error, as a share of the signal
};

std::vector<Candidate> candidates(const std::vector<LayerValue>& layers, std::vector<LayerError>& errors) {
  constexpr double kDecibels = 10;
  std::vector<Candidate> found;
  double before = 0;
  const ByLayer known = by_layer(errors);
  for (const LayerValue& layer : layers) {
    const auto error = known.find(layer.layer);
    if (error == known.end()) continue;
    const double now = std::pow(10.0, -error->second->difference.sqnr_db / kDecibels);
    found.push_back({&layer, error->second, now - before});
    before = now;
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const Candidate& a, const Candidate& b) { return a.growth > b.growth; });
  return found;
}

}  // namespace

void put_coverage(const std::vector<LayerValue>& layers, const std::map<std::string, Coverage>& inputs,
                  std::vector<LayerError>& errors) {
  const ByLayer known = by_layer(errors);
  for (const LayerValue& layer : layers)
    if (const auto seen = inputs.find(layer.input); seen != inputs.end())
      if (const auto error = known.find(layer.layer); error != known.end()) error->second->input = seen->second;
}

double measure_shares(const Model& source, const Model& result, const std::vector<LayerValue>& layers,
                      const Means& means, std::vector<LayerError>& errors) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begin = Clock::now();
  const auto seconds = [&] { return std::chrono::duration<double>(Clock::now() - begin).count(); };
  constexpr int64_t kFewSamples = 2;  // where more would leave most layers out
  int64_t samples = Outputs::kSamples;
  std::optional<Outputs> expected(std::in_place, source, means, samples);
  if (seconds() * static_cast<double>(layers.size() + 1) > means.share_seconds)
    expected.emplace(source, means, samples = kFewSamples);
  const auto error = [&](const Model& model) { return expected->distance(Outputs(model, means, samples)); };
  const double all = error(result);
  if (!(all > 0)) return 0;
  int64_t tried = 0;
  for (const Candidate& candidate : candidates(layers, errors)) {
    // Another may take as long as those before; the first as long as both models.
    if (seconds() * static_cast<double>(tried + 2) > means.share_seconds * static_cast<double>(tried + 1)) break;
    ++tried;
    Model without = clone(result);
    if (!float_again(without, source, *candidate.layer)) continue;
    remove_dead(without);
    candidate.error->share = 1 - error(without) / all;
    if (means.progress) means.progress("errors of layers", tried, std::ssize(layers));
  }
  return all / static_cast<double>(expected->count());
}

}  // namespace mlopt::quantize
