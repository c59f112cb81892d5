#include "core/rewrite/extract.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/ir/clone.h"
#include "core/rewrite/pass.h"

namespace mlopt {
namespace {

Value& value_named(const Graph& graph, const std::string& name) {
  if (Value* value = graph.find(name)) return *value;
  std::vector<std::string> names;
  for (const Value* value : graph.values())
    if (value->producer || value->is_input) names.push_back(value->name);
  usage_error(fmt::format("no value of the graph is called '{}'", name), {},
              did_you_mean(name, names) ? suggestion(name, names) : "");
}

bool is_given(const Value& input) { return !input.is_initializer(); }

/// A new input of that name in the place of the value.
void give(Graph& graph, const std::string& name) {
  Value& old = value_named(graph, name);
  if (old.known_constant()) usage_error(fmt::format("'{}' is a constant", name));
  if (old.is_output()) usage_error(fmt::format("'{}' is input and output", name));
  if (old.type.kind == Type::Kind::kUnknown || (old.type.is_tensor() && !old.type.has_dtype()))
    usage_error(fmt::format("the type of '{}' is not known", name));
  graph.rename(&old, graph.fresh_name(name));
  Value* input = graph.add_input(name, old.type);
  input->declared = true;
  graph.replace_uses(&old, input);
}

void remove_inputs(Graph& graph, bool (*goes)(const Value&)) {
  for (size_t i = graph.inputs().size(); i-- > 0;) {
    Value* input = graph.inputs()[i];
    if (!goes(*input)) continue;
    graph.remove_input(static_cast<int>(i));
    graph.erase(input);
  }
}

bool is_idle(const Value& input) { return input.uses.empty() && !input.is_output(); }

}  // namespace

void extract(Model& model, const std::vector<std::string>& inputs, const std::vector<std::string>& outputs) {
  std::vector<Value*> ends;
  for (const std::string& name : outputs) ends.push_back(&value_named(*model.graph, name));
  for (Value* end : ends)
    if (!end->producer) usage_error(fmt::format("no node computes '{}'", end->name));
  model.graph = clone_ending_with(*model.graph, ends.empty() ? model.graph->outputs() : ends);
  Graph& graph = *model.graph;
  for (Value* end : graph.outputs()) end->declared = true;
  for (const std::string& name : inputs) give(graph, name);
  remove_dead(model);
  for (const Value* input : graph.inputs()) {
    if (inputs.empty() || !is_given(*input)) continue;
    const bool wanted = std::find(inputs.begin(), inputs.end(), input->name) != inputs.end();
    if (wanted && is_idle(*input)) usage_error(fmt::format("no output needs '{}'", input->name));
    if (!wanted && !is_idle(*input))
      usage_error(fmt::format("the outputs need '{}' as well", input->name), {}, "name it as an input too");
  }
  remove_inputs(graph, is_idle);
}

}  // namespace mlopt
