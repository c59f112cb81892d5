#include <algorithm>
#include <deque>
#include <unordered_set>

#include "core/rewrite/fusion/counting.h"
#include "core/rewrite/fusion/twins.h"
#include "graphopt/passes/recurrent.h"
#include "graphopt/passes/slicing.h"

namespace mlopt::graphopt {
namespace {

struct Step {
  Recurrent cell;
  Piece piece;   ///< of the sequence: its entry
  Value* state;  ///< that it is given; null: zeros
  Value* next;
};

/// The entry that the product with its sequence was made of, before that was taken apart.
Piece before_product(Piece piece) {
  Value* v = piece.of;
  for (const Node* sum = producer_of(v, "Add"); sum; sum = producer_of(v, "Add")) {
    const bool first = sum->input(0)->known_constant();
    if (!first && !sum->input(1)->known_constant()) return piece;
    v = sum->input(first ? 1 : 0);
  }
  const Node* product = producer_of(v, "MatMul");
  if (product && product->input(1)->known_constant()) piece.of = product->input(0);
  return piece;
}

/// What a step may be given: the first entry that is found, and what else is multiplied with a matrix.
struct Sources {
  std::optional<Piece> entry;
  std::vector<Value*> states;
};

Sources sources_of(const Value* next, const Builder& builder) {
  constexpr int kMostValues = 64;
  constexpr size_t kMostStates = 4;
  static constexpr const char* kOfCells[] = {"Add", "Mul", "Sub", "Sigmoid", "Tanh", "Relu", "Split", "Slice"};
  Sources found;
  std::deque<const Value*> waiting = {next};
  std::unordered_set<const Value*> seen;
  for (int i = 0; i < kMostValues && !waiting.empty(); ++i) {
    const Value* v = waiting.front();
    waiting.pop_front();
    const Node* node = v && v->graph == &builder.graph ? v->producer : nullptr;
    if (!node || !seen.insert(v).second) continue;
    if (const auto entry = entry_at(v, builder)) {
      if (!found.entry) found.entry = before_product(*entry);
    } else if (node->is("MatMul") || node->is("Gemm")) {
      const auto given = entry_at(node->input(0), builder);
      if (given && !found.entry) found.entry = given;
      if (!given && found.states.size() < kMostStates) found.states.push_back(node->input(0));
    } else if (std::any_of(std::begin(kOfCells), std::end(kOfCells), [&](const char* op) { return node->is(op); })) {
      waiting.insert(waiting.end(), node->inputs().begin(), node->inputs().end());
    }
  }
  return found;
}

std::optional<Step> step_of(Value* next, Recognizer recognize, const Builder& builder) {
  const Sources sources = sources_of(next, builder);
  if (!sources.entry) return std::nullopt;
  std::vector<Value*> states = {nullptr};
  for (Value* v : sources.states)
    if (fusion::only_number(v) != 0.0) states.push_back(v);
  for (Value* state : states)
    if (const auto cell = recognize(Cell(*sources.entry, state, next, builder)))
      return Step{*cell, *sources.entry, state, next};
  return std::nullopt;
}

/// The last step of all first.
using Steps = std::vector<Step>;

bool follows(const Step& step, const Step& before, const Steps& steps) {
  const Piece &a = step.piece, &b = before.piece;
  const int64_t way = a.start - b.start;
  const bool same_way = steps.size() < 2 || steps[steps.size() - 2].piece.start - a.start == way;
  return a.of == b.of && a.axis == b.axis && (way == 1 || way == -1) && same_way &&
         step.next->type.dims == before.next->type.dims && are_same(step.cell, before.cell) &&
         step.cell.memory == before.cell.next_memory;
}

Steps steps_to(const Step& last, Recognizer recognize, const Builder& builder) {
  Steps steps = {last};
  while (steps.back().state) {
    const auto before = step_of(steps.back().state, recognize, builder);
    if (!before || !follows(steps.back(), *before, steps)) break;
    steps.push_back(*before);
  }
  return steps;
}

/// Is the state given to a further step?
bool goes_on(const Step& step) {
  return std::any_of(step.next->uses.begin(), step.next->uses.end(), [&](const Use& use) {
    const Value* matrix =
        use.index == 0 && (use.node->is("MatMul") || use.node->is("Gemm")) ? use.node->input(1) : nullptr;
    return matrix && std::any_of(step.cell.gates.begin(), step.cell.gates.end(),
                                 [&](const Gate& gate) { return gate.s && fusion::are_twins(gate.s->of, matrix); });
  });
}

/// The nodes that compute the steps of what they are given, the last one first.
std::vector<const Node*> nodes_of(const Steps& steps, const Builder& builder) {
  std::unordered_set<const Value*> seen = {steps.back().state, steps.back().cell.memory};
  std::vector<const Value*> waiting = {steps.front().next};
  std::vector<const Node*> nodes;
  std::unordered_set<const Node*> found;
  while (!waiting.empty()) {
    const Value* v = waiting.back();
    waiting.pop_back();
    const Node* node = v && v->graph == &builder.graph ? v->producer : nullptr;
    if (!node || !seen.insert(v).second || v->known_constant() || entry_at(v, builder) || fusion::only_number(v) == 0.0)
      continue;
    if (found.insert(node).second) nodes.push_back(node);
    waiting.insert(waiting.end(), node->inputs().begin(), node->inputs().end());
  }
  return nodes;
}

bool is_read_beyond(const std::unordered_set<const Node*>& inside, const Value& v) {
  return v.is_output() ||
         std::any_of(v.uses.begin(), v.uses.end(), [&](const Use& use) { return !inside.contains(use.node); });
}

/// Does nothing but the steps read what they compute, their states and the last memory excepted?
bool are_closed(const Steps& steps, const std::vector<const Node*>& nodes) {
  const std::unordered_set<const Node*> inside(nodes.begin(), nodes.end());
  std::unordered_set<const Value*> open = {steps.front().cell.next_memory};
  for (const Step& step : steps) open.insert(step.next);
  for (const Node* node : nodes)
    for (const Value* v : node->outputs())
      if (v && !open.contains(v) && is_read_beyond(inside, *v)) return false;
  return true;
}

/// Does anything beyond the steps read a state that is not the last one?
bool are_read(const Steps& steps, const std::vector<const Node*>& nodes) {
  const std::unordered_set<const Node*> inside(nodes.begin(), nodes.end());
  return std::any_of(steps.begin() + 1, steps.end(), [&](const Step& s) { return is_read_beyond(inside, *s.next); });
}

/// Null for zeros.
Value* begun_with(Value* state) { return state && fusion::only_number(state) != 0.0 ? state : nullptr; }

bool has_type_of_state(const Value* state, const Step& step) {
  return !state || (state->type.dims == step.next->type.dims && state->type.dtype == step.next->type.dtype);
}

/// An initial state as the operator takes it.
Value* initial_of(Value* state, Builder& builder) {
  return !state || state->type.dims->size() == 3 ? state : with_directions(state, builder);
}

/// [steps, batch, inputs]
Value* sequence_of(const Steps& steps, Builder& builder) {
  const Piece& piece = steps.front().piece;
  const int64_t first = std::min(piece.start, steps.back().piece.start), count = std::ssize(steps);
  Value* x = piece.of;
  SymDims dims = *x->type.dims;
  if (!dims[piece.axis].is(count)) {
    dims[piece.axis] = count;
    const Slicing slicing{{static_cast<int64_t>(piece.axis)}, {first}, {first + count}, {1}};
    x = slicing.make(builder, x, Type::tensor(x->type.dtype, dims));
  }
  if (piece.axis == 0) return x;
  std::swap(dims[0], dims[1]);
  return builder.op("Transpose", {x}, {{"perm", std::vector<int64_t>{1, 0, 2}, ""}}, Type::tensor(x->type.dtype, dims));
}

/// Why the steps cannot become an operator; "" where they can.
std::string fault(const Steps& steps, const std::vector<const Node*>& nodes, const Builder& builder) {
  const Step& last = steps.front();
  const auto& dims = last.next->type.dims;
  const size_t rank = dims ? dims->size() : 0;
  const SymDims& sequence = *last.piece.of->type.dims;
  const bool fits = (rank == 2 || (rank == 3 && dims->front().is(1))) && dims->back().is(last.cell.gates[0].x.count) &&
                    (*dims)[rank - 2] == sequence[1 - last.piece.axis];
  if (!fits) return "its states are not of [batch, units]";
  const Step& first = steps.back();
  if (!has_type_of_state(first.state, first)) return "its first state is of another shape";
  if (!has_type_of_state(begun_with(first.cell.memory), first)) return "its first memory is of another shape";
  if (!are_closed(steps, nodes)) return "something else reads what a step computes";
  if (!sequence.back().is(last.cell.gates[0].x.rows())) return "its weights take other entries";
  if (builder.opset() < 7) return "it would take a newer opset";
  return cost_of(last.cell, sequence[1 - last.piece.axis], std::ssize(steps), builder.target);
}

/// The operator, and its outputs as the steps have them.
class Written {
 public:
  Written(const Steps& steps, const LayerWeights& weights, Builder& builder)
      : keeps_directions_(steps.front().next->type.dims->size() == 3) {
    const Step &first = steps.back(), &last = steps.front();
    const Layer layer{.sequence = sequence_of(steps, builder),
                      .initial = initial_of(first.state, builder),
                      .memory = initial_of(begun_with(first.cell.memory), builder),
                      .reverse = first.piece.start > last.piece.start};
    node_ = make_layer(last.cell, weights, layer, *first.next->producer, builder);
  }

  void say_origins(const std::vector<const Node*>& nodes) {
    for (const Node* n : nodes) node_->origins.push_back(n->label());
    std::reverse(node_->origins.begin(), node_->origins.end());
  }

  /// The last state, or memory.
  Value* last(int i, Builder& builder) const {
    return keeps_directions_ ? node_->output(i) : without_directions(node_->output(i), builder);
  }

  /// [steps, batch, units]
  Value* all(Builder& builder) const { return without_directions(node_->output(0), builder); }

  /// One of `all`.
  Value* one(Value* all, int64_t i, const Type& type, Builder& builder) const {
    if (keeps_directions_) return Slicing{{0}, {i}, {i + 1}, {1}}.make(builder, all, type);
    return builder.op("Gather", {all, builder.constant("step", Tensor::scalar(i))}, {{"axis", int64_t{0}, ""}}, type);
  }

 private:
  Node* node_;
  bool keeps_directions_;
};

}  // namespace

Expected<Replacement> layer_of_steps(Recognizer recognize, const Match& m, Builder& builder) {
  const auto end = step_of(m.root->output(0), recognize, builder);
  // Asked first: of so many steps, all would be looked at for each.
  if (!end || goes_on(*end)) return Decline{};
  const Steps steps = steps_to(*end, recognize, builder);
  if (steps.size() < 3) return Decline{};
  const std::vector<const Node*> nodes = nodes_of(steps, builder);
  if (const std::string reason = fault(steps, nodes, builder); !reason.empty()) return Decline{reason};
  const auto weights = weights_of(steps.front().cell);
  if (!weights) return weights.error();
  // All that it takes is there before the first state is, and what reads a state comes after.
  const Step &first = steps.back(), &last = steps.front();
  Builder early = builder.at(first.next->producer);
  Written layer(steps, *weights, early);
  layer.say_origins(nodes);
  if (last.cell.next_memory) builder.replace(last.cell.next_memory, layer.last(2, early));
  if (!are_read(steps, nodes)) return Replacement{layer.last(1, early)};
  Value* all = layer.all(early);
  const int64_t lowest = std::min(first.piece.start, last.piece.start);
  const auto state = [&](const Step& step) {
    return layer.one(all, step.piece.start - lowest, step.next->type, early);
  };
  for (size_t i = 1; i < steps.size(); ++i) builder.replace(steps[i].next, state(steps[i]));
  return Replacement{state(last)};
}

}  // namespace mlopt::graphopt
