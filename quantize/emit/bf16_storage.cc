#include "quantize/emit/bf16_storage.h"

#include <algorithm>

#include "core/rewrite/pass.h"
#include "core/tensor/cast.h"
#include "quantize/plan.h"

namespace mlopt::quantize {

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
