#include "quantize/error_shares.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>

#include "core/rewrite/pass.h"
#include "quantize/float_again.h"
#include "quantize/outputs.h"

namespace mlopt::quantize {
namespace {

LayerError* error_of(const LayerValue& layer, std::vector<LayerError>& errors) {
  const auto found = std::find_if(errors.begin(), errors.end(), [&](const auto& e) { return e.layer == layer.layer; });
  return found == errors.end() ? nullptr : &*found;
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
  for (const LayerValue& layer : layers) {
    LayerError* error = error_of(layer, errors);
    if (!error) continue;
    const double now = std::pow(10.0, -error->difference.sqnr_db / kDecibels);
    found.push_back({&layer, error, now - before});
    before = now;
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const Candidate& a, const Candidate& b) { return a.growth > b.growth; });
  return found;
}

}  // namespace

void put_coverage(const std::vector<LayerValue>& layers, const std::map<std::string, Coverage>& inputs,
                  std::vector<LayerError>& errors) {
  for (const LayerValue& layer : layers)
    if (const auto seen = inputs.find(layer.input); seen != inputs.end())
      if (LayerError* error = error_of(layer, errors)) error->input = seen->second;
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
