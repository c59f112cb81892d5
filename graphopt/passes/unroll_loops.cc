// Loop whose trip count is a small constant, and that nothing ends earlier -> its body so many times.
#include "core/ir/constant.h"
#include "core/ir/instantiate.h"
#include "core/tensor/cast.h"
#include "graphopt/passes.h"

namespace mlopt::graphopt {
namespace {

constexpr int64_t kMostNodes = 64;  ///< that all trips together may make

std::optional<int64_t> known_number(const Value* v) {
  if (!v) return std::nullopt;
  const std::optional<Tensor> tensor = v->known_constant() ? *v->known_constant() : known_value(*v);
  if (!tensor || tensor->size() != 1) return std::nullopt;
  return to_ints(*tensor)[0];
}

bool is_true(const Value* v) { return known_number(v).value_or(0) != 0; }

/// Is the condition that the body gives the one that it is given, or true?
bool goes_on(const Graph& body) {
  const Value* condition = body.outputs()[0];
  while (condition->producer && condition->producer->is("Identity")) condition = condition->producer->input(0);
  return condition == body.inputs()[1] || is_true(condition);
}

/// How often it runs; nothing where that is not known, or too much.
Expected<int64_t> trips_of(const Node& loop, const Graph& body) {
  const size_t carried = loop.inputs().size() < 2 ? 0 : loop.inputs().size() - 2;
  if (body.inputs().size() != carried + 2 || body.outputs().size() < carried + 1 ||
      loop.outputs().size() > body.outputs().size() - 1)
    return Decline{"its body does not fit it"};
  const auto trips = known_number(loop.input(0));
  if (!trips) return Decline{"its trip count is not known"};
  if ((loop.input(1) && !is_true(loop.input(1))) || !goes_on(body)) return Decline{"a condition may end it earlier"};
  const auto nodes = static_cast<int64_t>(all_nodes(body).size());
  if (*trips < 1) return Decline{"its body never runs"};
  if (*trips > kMostNodes || (*trips > 1 && *trips * nodes > kMostNodes)) return Decline{"it runs too often"};
  return *trips;
}

/// The values that one trip gives, condition first, in the place of a node that stands for it.
std::vector<Value*> trip(Graph& graph, Node* loop, const Graph& body, int64_t index, const std::vector<Value*>& carried,
                         FreshNames& names) {
  std::vector<Value*> inputs = {graph.add_constant(names.make("trip"), Tensor::scalar(index)),
                                graph.add_constant(names.make("go_on"), Tensor::scalar(true))};
  inputs.insert(inputs.end(), carried.begin(), carried.end());
  std::vector<Value*> outputs, probes;
  for (const Value* y : body.outputs()) outputs.push_back(graph.add_value(names.make(y->name)));
  Node* stand_in = graph.add_node("", "Loop", std::move(inputs), outputs, {}, loop);
  stand_in->name = names.make(loop->name.empty() ? "loop" : loop->name);
  for (Value* y : outputs) probes.push_back(graph.add_op("Identity", {y}, {}, loop)->output(0));
  instantiate_branch(stand_in, body, names);
  std::vector<Value*> results;
  for (const Value* probe : probes) results.push_back(probe->producer->input(0));
  for (Value* probe : probes) graph.erase(probe->producer);
  return results;
}

/// What every trip gave, one after the other along a new first axis.
Value* stacked(Graph& graph, const std::vector<Value*>& parts, const Node* before, int64_t opset) {
  std::vector<Value*> rows;
  for (Value* part : parts) {
    std::vector<Value*> inputs = {part};
    std::vector<Attr> attrs;
    if (opset >= 13)
      inputs.push_back(graph.add_constant("axes", Tensor::ints({0})));
    else
      attrs.push_back({"axes", std::vector<int64_t>{0}, {}});
    rows.push_back(graph.add_op("Unsqueeze", inputs, attrs, before)->output(0));
  }
  if (rows.size() == 1) return rows[0];
  return graph.add_op("Concat", rows, {{"axis", int64_t{0}, {}}}, before)->output(0);
}

void unroll(Graph& graph, Node* loop, const GraphPtr& body, int64_t trips, int64_t opset) {
  std::vector<Value*> carried(loop->inputs().begin() + 2, loop->inputs().end());
  std::vector<std::vector<Value*>> scanned(body->outputs().size() - 1 - carried.size());
  for (int64_t i = 0; i < trips; ++i) {
    FreshNames names(graph);
    const std::vector<Value*> results = trip(graph, loop, *body, i, carried, names);
    for (size_t k = 0; k < carried.size(); ++k) carried[k] = results[k + 1];
    for (size_t k = 0; k < scanned.size(); ++k) scanned[k].push_back(results[k + 1 + carried.size()]);
  }
  for (size_t k = 0; k < loop->outputs().size(); ++k) {
    Value* y = loop->outputs()[k];
    if (!y) continue;
    Value* result = k < carried.size() ? carried[k] : stacked(graph, scanned[k - carried.size()], loop, opset);
    if (y->is_output()) result = graph.add_op("Identity", {result}, {}, loop)->output(0);
    result->type = y->type;
    graph.replace_uses(y, result);
  }
  graph.erase(loop);
}

void walk(Graph& graph, const Model& model, const PassContext& context, PassTally& tally) {
  for (Node* node : graph.nodes()) {
    for (Graph* body : node->bodies()) walk(*body, model, context, tally);
    const Attr* attr = node->is("Loop") && context.allows(*node) ? node->attr("body") : nullptr;
    const GraphPtr body = attr ? std::get<GraphPtr>(attr->value) : nullptr;  // outlives the node
    if (!body || body->inputs().size() < 2 || body->outputs().empty()) continue;
    const auto trips = trips_of(*node, *body);
    if (!trips) {
      ++tally.declined[trips.error().reason];
      tally.example.emplace(trips.error().reason, node->label());
      continue;
    }
    unroll(graph, node, body, *trips, model.opset());
    ++tally.applied;
  }
}

void run(Model& model, const PassContext& context, PassTally& tally) { walk(*model.graph, model, context, tally); }

}  // namespace

const Pass unroll_loops = {"unroll_loops", "write out Loops that run a few times", nullptr, run};

}  // namespace mlopt::graphopt
