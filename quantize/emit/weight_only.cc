#include "quantize/emit/weight_only.h"

#include <algorithm>
#include <string>
#include <unordered_set>
#include <vector>

#include "core/ir/view.h"
#include "core/rewrite/pass.h"
#include "core/tensor/cast.h"
#include "quantize/plan.h"
#include "quantize/uniform/params.h"

namespace mlopt::quantize {
namespace {

/// Smaller tensors save less than the DequantizeLinear before them costs.
constexpr int64_t kLeastElements = 1024;

/// A weight of a node, and which axis of it are output channels.
struct Place {
  int input, axis;
};

std::vector<Place> weights_of(const NodeView& view) {
  const Node& node = view.node();
  if (node.is("Conv")) return {{1, 0}};
  if (node.is("ConvTranspose") && view.get_int("group", 1) == 1) return {{1, 1}};
  if (node.is("Gemm")) return {{1, view.get_int("transB", 0) ? 0 : 1}};
  if (node.is("MatMul") && view.constant(1)) return {{1, view.constant(1)->rank() - 1}};
  if (node.is("Gather") && view.get_int("axis", 0) == 0) return {{0, 0}};
  if (node.is("LSTM") || node.is("GRU") || node.is("RNN")) return {{1, 1}, {2, 1}};
  return {};
}

/// Every reader of the weight agrees on its axis, else one scale serves all.
bool readers_agree(const Model& model, const Value& w, int axis) {
  return std::all_of(w.uses.begin(), w.uses.end(), [&](const Use& use) {
    const std::vector<Place> places = weights_of(NodeView(*use.node, model.opset(use.node->domain)));
    return std::any_of(places.begin(), places.end(),
                       [&](const Place& p) { return p.input == use.index && p.axis == axis; });
  });
}

/// Stores the weight as int8, with one scale (axis < 0) or one for each index of `axis`.
void store(Value* w, int axis) {
  const QuantizedWeight q = quantize_weight(*w->known_constant(), axis);
  Graph& graph = *w->graph;
  std::vector<Attr> attrs;
  if (axis >= 0) attrs.push_back({"axis", int64_t{axis}, {}});
  Node* dq = graph.add_op(
      "DequantizeLinear",
      {graph.add_constant(w->name + "_quantized", q.codes), graph.add_constant(w->name + "_scale", q.scale),
       graph.add_constant(w->name + "_zero_point", q.zero_point)},
      std::move(attrs), graph.next(nullptr), w->name + "_dequantized");
  dq->name = w->name + "_DequantizeLinear";
  graph.replace_uses(w, dq->output(0));
}

/// Why the weight stays as it is; nothing when it does not.
std::string why_float(const Value& w, const Place& place, const Spec& spec) {
  if (w.constant->size() < kLeastElements || place.axis < 0) return "its weight is small";
  const bool all = std::all_of(w.uses.begin(), w.uses.end(), [&](const Use& use) { return chosen(*use.node, spec); });
  return all ? "" : "excluded by --only or --skip";
}

}  // namespace

Emitted emit_weight_only(Model& model, const Spec& spec) {
  Emitted done;
  std::unordered_set<const Node*> listed;
  for (Node* node : all_nodes(*model.graph))
    for (const Place& place : weights_of(NodeView(*node, model.opset(node->domain)))) {
      Value* w = node->input(place.input);
      if (!w || !w->known_constant() || w->constant->dtype() != DType::kF32 || w->is_output()) continue;
      if (const std::string reason = why_float(*w, place, spec); !reason.empty()) {
        done.left[node->label()] = reason;
        continue;
      }
      for (const Use& use : w->uses)
        if (listed.insert(use.node).second) done.layers.push_back(layer_of(*use.node));
      store(w, spec.per_tensor || !readers_agree(model, *w, place.axis) ? -1 : place.axis);
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
                              graph.next(nullptr), w->name + "_f32");
    for (const Use& use : w->uses) done.layers.push_back(layer_of(*use.node));
    graph.replace_uses(w, back->output(0));
  }
  remove_dead(model);
  return done;
}

}  // namespace mlopt::quantize
