// Optional outputs that nothing reads -> omitted: Dropout's mask, the indices of MaxPool, states of LSTM, ...
#include <algorithm>
#include <string_view>

#include "graphopt/passes.h"

namespace mlopt::graphopt {
namespace {

struct Optional {
  std::string_view op;
  int first;  ///< the outputs from here on may be omitted
};
constexpr Optional kOptional[] = {
    {"Dropout", 1}, {"MaxPool", 1}, {"LSTM", 0}, {"GRU", 0}, {"RNN", 0}, {"LayerNormalization", 1}, {"Unique", 1}};

void drop(Graph& graph, const PassContext& context, PassTally& tally) {
  for (Node* node : graph.nodes()) {
    for (Graph* body : node->bodies()) drop(*body, context, tally);
    const auto* entry =
        std::find_if(std::begin(kOptional), std::end(kOptional), [&](const Optional& o) { return node->is(o.op); });
    if (entry == std::end(kOptional) || !context.allows(*node)) continue;
    const auto unused = [](const Value* v) { return !v || (v->uses.empty() && !v->is_output()); };
    if (std::all_of(node->outputs().begin(), node->outputs().end(), unused)) continue;  // dead as a whole
    for (int i = static_cast<int>(node->outputs().size()); i-- > entry->first;) {
      if (!node->output(i) || !unused(node->output(i))) continue;
      graph.drop_output(node, i);
      ++tally.applied;
    }
  }
}

void run(Model& model, const PassContext& context, PassTally& tally) { drop(*model.graph, context, tally); }

}  // namespace

const Pass eliminate_unused_outputs = {"eliminate_unused_outputs", "omit optional outputs that nothing reads", nullptr,
                                       run};

}  // namespace mlopt::graphopt
