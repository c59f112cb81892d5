#include "quantize/warnings.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "core/rewrite/pass.h"
#include "quantize/emit/weights.h"

namespace mlopt::quantize {
namespace {

/// Of formats that round activations: weights alone are stored wherever they are.
void add_bodies(const Quantized& made, const Spec& spec, std::vector<std::string>& warnings) {
  if (spec.format == Format::kWeights) return;
  const std::vector<Node*> all = all_nodes(*made.model.graph);
  const auto inside = std::count_if(
      all.begin(), all.end(), [&](const Node* n) { return n->graph() != made.model.graph.get() && is_weighted(*n); });
  if (inside) warnings.push_back(fmt::format("{} layers in the bodies of If, Loop or Scan stay as they are", inside));
}

void add_numbers(const Quantized& made, std::vector<std::string>& warnings) {
  const auto is_bad = [](const auto& entry) { return entry.second == kNotFinite; };
  const auto bad = std::count_if(made.left.begin(), made.left.end(), is_bad);
  if (bad == 0) return;
  const std::string& first = std::find_if(made.left.begin(), made.left.end(), is_bad)->first;
  warnings.push_back(bad == 1 ? fmt::format("{} stays in float: {}", first, kNotFinite)
                              : fmt::format("{} and {} more stay in float: {}", first, bad - 1, kNotFinite));
}

void add_plan(const Quantized& made, const Spec& spec, std::vector<std::string>& warnings) {
  std::set<std::string_view> stored;
  for (const StoredWeight& w : made.weights) stored.insert(w.layer);
  for (const auto& entry : spec.plan)
    if (!stored.contains(entry.first))
      warnings.push_back(fmt::format("the plan names '{}', which has no weight that can be stored", entry.first));
}

}  // namespace

std::vector<std::string> warnings_of(const Quantized& made, const Spec& spec) {
  std::vector<std::string> warnings;
  add_bodies(made, spec, warnings);
  add_numbers(made, warnings);
  if (spec.format == Format::kWeights) add_plan(made, spec, warnings);
  return warnings;
}

}  // namespace mlopt::quantize
