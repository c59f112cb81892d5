// Initial states of LSTM, GRU and RNN that are zeros -> omitted, which means the same: exporters make them of the
// batch.
#include "core/rewrite/fusion/counting.h"
#include "graphopt/passes.h"

namespace mlopt::graphopt {
namespace {

void drop(Graph& graph, const PassContext& context, PassTally& tally) {
  constexpr int kHidden = 5, kCell = 6;
  for (Node* node : graph.nodes()) {
    for (Graph* body : node->bodies()) drop(*body, context, tally);
    const bool recurrent = node->is("LSTM") || node->is("GRU") || node->is("RNN");
    if (!recurrent || !context.allows(*node)) continue;
    for (const int i : {kHidden, kCell}) {
      const Value* state = node->input(i);
      if (!state || fusion::only_number(state) != 0.0) continue;
      graph.set_input(node, i, nullptr);
      ++tally.applied;
    }
    while (!node->inputs().empty() && !node->inputs().back())
      graph.resize_inputs(node, static_cast<int>(node->inputs().size()) - 1);
  }
}

void run(Model& model, const PassContext& context, PassTally& tally) { drop(*model.graph, context, tally); }

}  // namespace

const Pass eliminate_zero_state = {"eliminate_zero_state", "omit initial states of LSTM, GRU and RNN that are zeros",
                                   nullptr, run};

}  // namespace mlopt::graphopt
