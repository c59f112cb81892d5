#include "core/ir/constant.h"
#include "core/ir/trips.h"
#include "core/rewrite/carried.h"
#include "core/rewrite/fusion/counting.h"
#include "graphopt/passes/recurrent.h"

namespace mlopt::graphopt {
namespace {

/// Is it the number of the iteration, which may be in another type of integers?
bool is_trip(const Value* v, const Graph& body) {
  const Node* cast = producer_of(v, "Cast");
  return (cast ? cast->input(0) : v) == body.inputs()[0];
}

/// What takes the entries of a sequence, one in each iteration.
Expected<const Node*> entry_of(const Graph& body, const Builder& builder) {
  const Node* entry = nullptr;
  for (const Node* node : body.nodes())
    if (node->is("Gather") && is_trip(node->input(1), body) && node->input(0)->graph != &body) {
      if (entry || builder.view(*node).get_int("axis", 0) != 0) return Decline{"it walks along two sequences"};
      entry = node;
    }
  if (!entry) return Decline{"it walks along no sequence"};
  return entry;
}

/// Why it is not a walk along the whole sequence that begins with this state.
std::string fault(const Node& loop, const Value* sequence, const Value* initial) {
  const auto &dims = sequence->type.dims, &state = initial ? initial->type.dims : dims;
  if (!dims || dims->size() != 3 || !initial || !state || state->size() != 2)
    return "its sequence is not of [steps, batch, inputs] or its state not of [batch, units]";
  if (dims->front().is(0)) return "its sequence has no entries";
  const auto trips = fusion::dim_in(loop.input(0));
  if (!trips || !(*trips == (*dims)[0])) return "it does not walk along the whole sequence";
  return (*state)[0] == (*dims)[1] ? "" : "its state is of another batch than its sequence";
}

}  // namespace

Expected<Replacement> layer_of_loop(Recognizer recognize, const Match& m, Builder& builder) {
  const Node& loop = *m.root;
  const Carried carried = carried_by(builder.view(loop));
  if (!loop.is("Loop") || carried.count != 1 || builder.opset() < 7) return Decline{};
  const Graph& body = *loop.bodies()[0];
  const Value* next = before_identities(carried.made(body, 0));
  for (const Value* given : body.outputs())
    if (given != body.outputs()[0] && before_identities(given) != next) return Decline{"it gives more than states"};
  if (!only_count_ends(loop, body)) return Decline{"a condition may end it"};
  const auto entry = entry_of(body, builder);
  if (!entry) return entry.error();
  Value *sequence = (*entry)->input(0), *initial = loop.input(2);
  if (const std::string reason = fault(loop, sequence, initial); !reason.empty()) return Decline{reason};
  const auto step = recognize(Cell((*entry)->output(0), carried.parameter(body, 0), next, builder));
  if (!step) return Decline{"its cell is another one"};
  if (!(*initial->type.dims)[1].is(step->gates.front().x.count))
    return Decline{"its state has another width than its gates"};
  if (const std::string reason = cost_of(*step, (*sequence->type.dims)[1], 0, builder.target); !reason.empty())
    return Decline{reason};
  const auto weights = weights_of(*step);
  if (!weights) return weights.error();
  if (!sequence->type.dims->back().is(step->gates.front().x.rows())) return Decline{"its weights take other entries"};
  Value* first = with_directions(initial, builder);
  const Node* layer = make_layer(*step, *weights, {.sequence = sequence, .initial = first}, loop, builder);
  Replacement made{without_directions(layer->output(1), builder)};
  for (size_t i = 1; i < loop.outputs().size(); ++i) made.push_back(without_directions(layer->output(0), builder));
  return made;
}

}  // namespace mlopt::graphopt
