#include "cli/prune/zeros.h"

#include <fmt/core.h>

namespace mlopt::cli {
namespace {

constexpr size_t kLayersShown = 40;

std::string share(int64_t part, int64_t whole) {
  return fmt::format("{:.2f} %", whole ? 100.0 * static_cast<double>(part) / static_cast<double>(whole) : 0);
}

Json layer_json(const prune::PrunedLayer& layer) {
  Json dims = Json::array();
  for (const int64_t d : layer.dims) dims.push_back(d);
  return Json::object({{"layer", layer.layer},
                       {"op", layer.op},
                       {"weight", layer.weight},
                       {"shape", dims},
                       {"parameters", layer.parameters},
                       {"zeros", layer.zeros},
                       {"zeros_before", layer.zeros_before},
                       {"sparsity", layer.sparsity()}});
}

}  // namespace

void report_layers(const prune::Pruned& made, Report& report) {
  Json& all = report.data["layers"] = Json::array();
  Table table{"zeros by layer", {"layer", "operator", "shape", "weights", "zeros", "before"}, {}, 2};
  for (const prune::PrunedLayer& layer : made.layers) {
    all.push_back(layer_json(layer));
    if (table.rows.size() < kLayersShown)
      table.rows.push_back({layer.layer, layer.op, to_string(layer.dims), std::to_string(layer.parameters),
                            share(layer.zeros, layer.parameters), share(layer.zeros_before, layer.parameters)});
  }
  report.blocks.emplace_back(std::move(table));
  if (made.layers.size() > kLayersShown)
    report.line(fmt::format("and {} more layers, which --json has", made.layers.size() - kLayersShown));
}

Json report_total(const prune::Pruned& made, Report& report) {
  int64_t weights = 0, zeros = 0;
  for (const prune::PrunedLayer& layer : made.layers) weights += layer.parameters, zeros += layer.zeros;
  report.line(fmt::format("{} of {} weights in {} layers are zero ({}){}", zeros, weights, made.layers.size(),
                          share(zeros, weights),
                          made.samples ? fmt::format(", chosen on {} samples", made.samples) : ""));
  report.line(
      "zeros alone make nothing faster: runtimes multiply by them; they make room for compression, and a structured "
      "granularity makes layers smaller");
  return Json::object({{"layers", made.layers.size()},
                       {"weights", weights},
                       {"zeros", zeros},
                       {"sparsity", weights ? static_cast<double>(zeros) / static_cast<double>(weights) : 0},
                       {"calibration_samples", made.samples}});
}

}  // namespace mlopt::cli
