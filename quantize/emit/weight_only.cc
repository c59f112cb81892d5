#include "quantize/emit/weight_only.h"

#include <algorithm>
#include <optional>

#include "core/base/text.h"
#include "core/ir/view.h"
#include "core/rewrite/pass.h"
#include "core/tensor/cast.h"
#include "quantize/uniform/params.h"

namespace mlopt::quantize {
namespace {

/// Smaller tensors save less than the DequantizeLinear before them costs.
constexpr int64_t kLeastElements = 1024;

bool chosen(const Node& node, const Spec& spec) {
  const std::string& label = node.name.empty() && node.output(0) ? node.output(0)->name : node.name;
  return (spec.only.empty() || glob_any(spec.only, label)) && !glob_any(spec.skip, label);
}

/// Which input of the node is its weight, and which axis of it are output channels.
std::optional<std::pair<int, int>> weight_of(const NodeView& view) {
  const Node& node = view.node();
  if (node.is("Conv") || node.is("FusedConv", "com.microsoft")) return {{1, 0}};
  if (node.is("ConvTranspose") && view.get_int("group", 1) == 1) return {{1, 1}};
  if (node.is("Gemm")) return {{1, view.get_int("transB", 0) ? 0 : 1}};
  if (node.is("MatMul") && view.constant(1)) return {{1, view.constant(1)->rank() - 1}};
  if (node.is("Gather") && view.get_int("axis", 0) == 0) return {{0, 0}};
  return std::nullopt;
}

/// Every reader of the weight agrees on its axis, else one scale serves all.
bool readers_agree(const Model& model, const Value& w, int axis) {
  return std::all_of(w.uses.begin(), w.uses.end(), [&](const Use& use) {
    const auto place = weight_of(NodeView(*use.node, model.opset(use.node->domain)));
    return place && place->first == use.index && place->second == axis;
  });
}

}  // namespace

Emitted emit_weight_only(Model& model, const Spec& spec) {
  Emitted done;
  for (Node* node : all_nodes(*model.graph)) {
    const NodeView view(*node, model.opset(node->domain));
    const auto place = weight_of(view);
    Value* w = place ? node->input(place->first) : nullptr;
    const Tensor* weight = w ? w->known_constant() : nullptr;
    if (!weight || weight->dtype() != DType::kF32 || w->is_output()) continue;
    if (weight->size() < kLeastElements || place->second < 0) {
      done.left[node->label()] = "its weight is small";
      continue;
    }
    if (!chosen(*node, spec)) {
      done.left[node->label()] = "excluded by --only or --skip";
      continue;
    }
    const int axis = spec.per_tensor || !readers_agree(model, *w, place->second) ? -1 : place->second;
    const QuantizedWeight q = quantize_weight(*weight, axis);
    Graph& graph = *w->graph;
    std::vector<Attr> attrs;
    if (axis >= 0) attrs.push_back({"axis", int64_t{axis}, {}});
    Node* dq = graph.add_op(
        "DequantizeLinear",
        {graph.add_constant(w->name + "_quantized", q.codes), graph.add_constant(w->name + "_scale", q.scale),
         graph.add_constant(w->name + "_zero_point", q.zero_point)},
        std::move(attrs), graph.nodes()[0], w->name + "_dequantized");
    for (const Use& use : w->uses) done.layers.push_back(layer_of(*use.node));
    graph.replace_uses(w, dq->output(0));
  }
  remove_dead(model);
  return done;
}

Emitted emit_bf16_storage(Model& model, const Spec& spec) {
  constexpr int64_t kLeast = 64;
  Emitted done;
  for (Value* w : model.graph->initializers()) {
    if (w->is_input || w->is_output() || w->constant->dtype() != DType::kF32 || w->constant->size() < kLeast) continue;
    const bool wanted =
        std::all_of(w->uses.begin(), w->uses.end(), [&](const Use& use) { return chosen(*use.node, spec); });
    if (!wanted) continue;
    Graph& graph = *model.graph;
    Value* stored = graph.add_constant(w->name + "_bf16", cast(*w->constant, DType::kBF16));
    Node* back = graph.add_op("Cast", {stored}, {{"to", int64_t{static_cast<int64_t>(DType::kF32)}, {}}},
                              graph.nodes()[0], w->name + "_f32");
    for (const Use& use : w->uses) done.layers.push_back(layer_of(*use.node));
    graph.replace_uses(w, back->output(0));
  }
  remove_dead(model);
  return done;
}

}  // namespace mlopt::quantize
