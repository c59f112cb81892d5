#include "cli/quantize/layer_plan.h"

#include <fmt/core.h>

#include <set>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/report/json.h"

namespace mlopt::cli {
namespace {

quantize::WeightFormat format_of(const std::string& text, const std::string& layer) {
  if (const auto format = quantize::parse_weight_format(text)) return *format;
  usage_error(fmt::format("no format of weights is called '{}'", text), "layer " + layer,
              suggestion(text, quantize::weight_format_names()));
}

}  // namespace

std::map<std::string, quantize::WeightFormat> read_layer_plan(const std::string& path) {
  const bool inline_json = path.starts_with("{");
  const Json json = Json::parse(inline_json ? path : read_file(path), inline_json ? "--layer-plan" : path);
  std::map<std::string, quantize::WeightFormat> plan;
  if (const Json* weights = json.find("weights"); weights && weights->is_array()) {
    for (const Json& row : weights->items()) {
      const Json *layer = row.find("layer"), *format = row.find("format");
      if (layer && format) plan[layer->string()] = format_of(format->string(), layer->string());
    }
  } else {
    for (const auto& [layer, format] : json.members())
      if (format.is_string()) plan[layer] = format_of(format.string(), layer);
  }
  if (plan.empty())
    input_error("it names no layer's format", path, R"(give a report of quantize, or {"LAYER": "w4g32", ...})");
  return plan;
}

std::map<std::string, quantize::WeightFormat> read_layer_plan(const std::string& path, const quantize::Spec& spec) {
  if (spec.format != quantize::Format::kWeights || spec.budget)
    usage_error("a plan gives layers formats of weights alone", "--layer-plan",
                "use it with a format such as w8, for the layers that it does not name");
  return read_layer_plan(path);
}

void check_layer_plan(const std::map<std::string, quantize::WeightFormat>& plan, const Model& source,
                      const quantize::Quantized& made) {
  std::set<std::string> known;
  for (const Model* model : {&source, &made.model})
    for (const Node* node : all_nodes(*model->graph)) known.insert(node->called());
  std::vector<std::string> layers;
  for (const quantize::StoredWeight& w : made.weights) layers.push_back(w.layer);
  known.insert(layers.begin(), layers.end());
  for (const auto& [layer, format] : plan)
    if (!known.contains(layer))
      usage_error(fmt::format("the model has no layer '{}'", layer), "--layer-plan", suggestion(layer, layers));
}

}  // namespace mlopt::cli
