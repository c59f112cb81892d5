#include "core/rewrite/store_narrow.h"

#include <algorithm>

#include "core/rewrite/half_rules.h"
#include "core/rewrite/pass.h"

namespace mlopt {
namespace {

void store(Graph& graph, Value* weight, DType type) {
  const std::string name(mlopt::name(type));
  Value* stored = graph.add_constant(weight->name + "_" + name, half::rounded(*weight->constant, type));
  Node* back = graph.add_op("Cast", {stored}, {{"to", int64_t{static_cast<int64_t>(DType::kF32)}, {}}},
                            graph.next(nullptr), weight->name + "_float32");
  graph.replace_uses(weight, back->output(0));
}

/// Its floats are scales: all codes hang on them, and ONNX Runtime computes other numbers where they are behind a Cast.
bool computes_with_codes(const Node& node) {
  constexpr std::string_view kOperators[] = {"DequantizeLinear",
                                             "GatherBlockQuantized",
                                             "MatMulBnb4",
                                             "MatMulIntegerToFloat",
                                             "MatMulNBits",
                                             "QAttention",
                                             "QEmbedLayerNormalization",
                                             "QGemm",
                                             "QMoE",
                                             "QuantizeLinear"};
  const std::string_view op = node.op;
  return op.starts_with("QLinear") || op.starts_with("DynamicQuantize") ||
         std::find(std::begin(kOperators), std::end(kOperators), op) != std::end(kOperators);
}

}  // namespace

Narrowed store_narrow(Model& model, DType type, int64_t least, const std::function<bool(const Node&)>& wanted) {
  Narrowed done;
  for (Value* w : model.graph->initializers()) {
    if (w->is_input || w->is_output() || w->constant->dtype() != DType::kF32 || w->constant->size() < least) continue;
    if (!std::all_of(w->uses.begin(), w->uses.end(),
                     [&](const Use& use) { return wanted(*use.node) && !computes_with_codes(*use.node); }))
      continue;
    if (!half::fits(*w->constant, type)) {
      done.left[w->name] = "it has numbers beyond the range of float16";
      continue;
    }
    for (const Use& use : w->uses) done.readers.push_back(use.node);
    ++done.tensors;
    done.saved_bytes += static_cast<int64_t>(w->constant->bytes()) / 2;
    store(*model.graph, w, type);
  }
  remove_dead(model);
  return done;
}

}  // namespace mlopt
