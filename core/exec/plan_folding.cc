#include <algorithm>

#include "core/exec/inferred.h"
#include "core/exec/plan_builder.h"
#include "core/ir/constant.h"

namespace mlopt {
namespace {

/// Are all values that the node and its bodies read known?
bool reads_constants(const Node& node) {
  const auto all_known = [](const std::vector<Value*>& values) {
    return std::all_of(values.begin(), values.end(), [](const Value* v) { return !v || v->constant; });
  };
  const std::vector<Graph*> bodies = node.bodies();
  return all_known(node.inputs()) &&
         std::all_of(bodies.begin(), bodies.end(), [&](const Graph* body) { return all_known(captures(*body)); });
}

bool draws_numbers(const Node& node) {
  std::vector<Node*> nodes;
  for (const Graph* body : node.bodies()) {
    const std::vector<Node*> inner = all_nodes(*body);
    nodes.insert(nodes.end(), inner.begin(), inner.end());
  }
  return is_random(node) || std::any_of(nodes.begin(), nodes.end(), [](const Node* n) { return is_random(*n); });
}

/// Does it repeat constants into so much memory that a value of the arena, which is shared, is better?
bool swells(const Node& node) {
  constexpr size_t kMuch = size_t{16} << 20;
  const bool repeats = node.is("Expand") || node.is("Tile") || node.is("ConstantOfShape");
  const auto made = repeats && node.output(0) ? inferred(*node.output(0)) : std::nullopt;
  return made && made->bytes() > kMuch && made->bytes() / 4 > node.input(0)->constant->bytes();
}

Datum datum_of(const Value* v) { return v ? Datum(v->constant->aligned()) : Datum(); }

/// What the step gives for the constants that it reads.
std::vector<Datum> made_of_constants(const NodeStep& step, uint64_t seed) {
  const Node& node = step.view().node();
  std::vector<Datum> data;
  for (const Value* v : node.inputs()) data.push_back(datum_of(v));
  std::vector<const Datum*> inputs;
  for (size_t i = 0; i < data.size(); ++i) inputs.push_back(node.inputs()[i] ? &data[i] : nullptr);
  std::vector<std::vector<Datum>> captured;
  for (const std::vector<Value*>& values : step.captured()) {
    std::vector<Datum>& of_body = captured.emplace_back();
    for (const Value* v : values) of_body.push_back(datum_of(v));
  }
  std::vector<Datum> outputs(node.outputs().size());
  const RunHooks none;
  const auto find = [&](int body, int i) { return &captured[static_cast<size_t>(body)][static_cast<size_t>(i)]; };
  step.run(inputs, outputs, find, {&none, seed, nullptr, nullptr});
  return outputs;
}

}  // namespace

bool PlanBuilder::fold(const Node& node) {
  if ((node.inputs().empty() && node.bodies().empty()) || !reads_constants(node) || draws_numbers(node)) return false;
  if (swells(node)) return false;
  const size_t rows = context_->steps.size(), fallback = context_->fallback.size(), bad = context_->unsupported.size();
  const NodeStep step(node, *context_);
  context_->steps.resize(rows);
  context_->fallback.resize(fallback);
  if (context_->unsupported.size() > bad) {
    context_->unsupported.resize(bad);
    return false;
  }
  const std::vector<Datum> outputs = made_of_constants(step, context_->options->seed);
  const bool tensors =
      std::all_of(outputs.begin(), outputs.end(), [](const Datum& d) { return d.is_tensor() || d.is_none(); });
  if (!tensors) return false;
  for (size_t i = 0; i < outputs.size(); ++i)
    if (node.outputs()[i] && outputs[i].is_tensor()) note_constant(*node.outputs()[i], outputs[i].tensor());
  return true;
}

/// Shapes that follow from what is known become known on the way.
void PlanBuilder::fold_constants() {
  std::unordered_set<const Value*> learned;
  for (const Value* v : p_.model.graph->values())
    if (v->producer && v->constant) learned.insert(v);
  for (Node* node : p_.model.graph->nodes()) {
    if (!needed_.contains(node)) continue;
    const auto& in = node->inputs();
    const bool news = std::any_of(in.begin(), in.end(), [&](const Value* v) { return learned.contains(v); });
    if (news) {
      infer(p_.model, *node, context_->types, false);
      for (Value* v : node->outputs())
        if (auto value = v ? known_or_empty(*v) : std::nullopt) note_constant(*v, std::move(*value));
    }
    if (fold(*node) || news) learned.insert(node->outputs().begin(), node->outputs().end());
  }
}

}  // namespace mlopt
