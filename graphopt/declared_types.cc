#include "graphopt/declared_types.h"

#include "core/onnx/tools.h"

namespace mlopt::graphopt {
namespace {

/// The path of a body: bodies of one node are told apart by their place.
std::string below(const std::string& place, size_t body) { return place + '\n' + std::to_string(body) + '\n'; }

std::string place_of(const std::string& path, const Node& node) {
  const Value* first = node.output(0);
  return path + (first ? first->name : node.name);
}

void forget_shape(Value& value) {
  value.type.dims.reset();
  value.symbolic.reset();
}

/// Exporters write 0 for a size that they did not know.
void forget_zeros(Value& value) {
  if (!value.type.dims) return;
  for (Dim& d : *value.type.dims)
    if (d.is(0)) d = Dim();
}

/// Can both not be true of one value?
bool contradicts(const Type& found, const Type& stated) {
  if (!found.dims || !stated.dims) return false;
  if (found.dims->size() != stated.dims->size()) return true;
  for (size_t i = 0; i < found.dims->size(); ++i) {
    const auto a = (*found.dims)[i].value(), b = (*stated.dims)[i].value();
    if (a && b && *a != *b) return true;
  }
  return false;
}

}  // namespace

DeclaredTypes::DeclaredTypes(Model& model) { note(*model.graph, {}, model); }

void DeclaredTypes::note(Graph& graph, const std::string& path, const Model& model) {
  for (Value* v : graph.values()) {
    if (v->declared || v->is_output()) types_[path + v->name] = v->type;
    if (!v->producer || v->constant) continue;
    if (known_operator(*v->producer, model))
      forget_shape(*v);
    else
      forget_zeros(*v);
  }
  for (Node* node : graph.nodes()) {
    const std::vector<Graph*> bodies = node->bodies();
    const std::string place = place_of(path, *node);
    for (const Value* v : node->outputs())
      if (v && !bodies.empty()) places_[path + v->name] = place;
    for (size_t i = 0; i < bodies.size(); ++i) {
      note(*bodies[i], below(place, i), model);
      if (!node->is("Loop")) continue;
      const std::vector<Value*>& inputs = bodies[i]->inputs();
      for (size_t k = 2; k < inputs.size(); ++k) {
        types_[below(place, i) + inputs[k]->name] = inputs[k]->type;
        forget_shape(*inputs[k]);
      }
    }
  }
}

void DeclaredTypes::restore(Model& model) const { restore(*model.graph, {}); }

void DeclaredTypes::restore(Graph& graph, const std::string& path) const {
  for (Value* v : graph.values()) {
    const auto stated = types_.find(path + v->name);
    if (stated == types_.end() || !(v->declared || v->is_output() || v->is_input)) continue;
    const bool main_output = v->is_output() && !graph.owner;
    // What the file states of an inner value may be wrong, which runtimes refuse or bear as it comes.
    if (!main_output && v->producer && contradicts(v->type, stated->second)) continue;
    if (main_output || stated->second.dims || !v->type.is_tensor()) v->type = stated->second;
  }
  for (Node* node : graph.nodes()) {
    const std::vector<Graph*> bodies = node->bodies();
    // The first outputs may be gone.
    std::string place = place_of(path, *node);
    for (const Value* v : node->outputs())
      if (const auto known = v ? places_.find(path + v->name) : places_.end(); known != places_.end())
        place = known->second;
    for (size_t i = 0; i < bodies.size(); ++i) restore(*bodies[i], below(place, i));
  }
}

}  // namespace mlopt::graphopt
