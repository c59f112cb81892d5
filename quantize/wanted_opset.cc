#include "quantize/wanted_opset.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/base/error.h"
#include "quantize/store_weights.h"

namespace mlopt::quantize {
namespace {

/// The first opset of ai.onnx in which the format can be written.
int64_t least_opset(const Spec& spec, const Model& model) {
  switch (spec.format) {
    case Format::kStatic:
      return spec.held_in_bytes() ? 13 : 21;  // 13: a scale for each channel; 21: weights of up to 4 bits, or 16 bits
    case Format::kW8A8Dynamic:
      return 11;  // DynamicQuantizeLinear
    case Format::kWeights:
      return opset_of_weights(model, spec);
    case Format::kF16:
      return 6;  // Cast to a type that is a number
    default:
      return 13;  // Cast to bfloat16
  }
}

/// A model without layers is not worth an opset that it may have no form in. Short floats count vectors among them.
bool has_layers(const Model& model, Format format) {
  const int least_rank = format == Format::kF16 || format == Format::kBF16 ? 0 : 2;
  const std::vector<Node*> nodes = all_nodes(*model.graph);
  return std::any_of(nodes.begin(), nodes.end(), [&](const Node* node) {
    return std::any_of(node->inputs().begin(), node->inputs().end(),
                       [&](const Value* v) { return v && v->known_constant() && v->constant->rank() >= least_rank; });
  });
}

}  // namespace

int64_t wanted_opset(const Model& model, const Spec& spec) {
  const int64_t least = has_layers(model, spec.format) ? least_opset(spec, model) : 1;
  if (spec.opset == 0) return std::max(least, model.opset());
  if (least > spec.opset)
    usage_error(fmt::format("{} needs opset {}", name(spec), least), "--opset", "leave it out, or choose a later one");
  return spec.opset;
}

}  // namespace mlopt::quantize
