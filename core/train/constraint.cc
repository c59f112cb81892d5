#include "core/train/constraint.h"

#include <algorithm>

#include "core/base/error.h"

namespace mlopt::train {
namespace {

StateUpdate& update_of(std::vector<StateUpdate>& updates, std::string_view name) {
  const auto found =
      std::find_if(updates.begin(), updates.end(), [&](const StateUpdate& u) { return u.state == name; });
  if (found == updates.end()) internal_error("a constraint on what is not trained", std::string(name));
  return *found;
}

}  // namespace

bool Constraint::trains(std::string_view parameter) const {
  return std::find(parameters.begin(), parameters.end(), parameter) != parameters.end();
}

Value* Constraint::before(const std::string& parameter) { return build.graph().find(parameter); }

Value* Constraint::next(const std::string& parameter) {
  return build.graph().find(update_of(updates_, parameter).output);
}

Value* Constraint::gradient(const std::string& parameter) {
  const auto at = std::find(parameters.begin(), parameters.end(), parameter);
  if (at == parameters.end()) internal_error("a gradient of what is not trained", parameter);
  return build.graph().find(gradients_[static_cast<size_t>(at - parameters.begin())]);
}

void Constraint::replace(const std::string& parameter, Value* value) {
  Graph& graph = build.graph();
  StateUpdate& update = update_of(updates_, parameter);
  const auto& outputs = graph.outputs();
  const auto at = std::find(outputs.begin(), outputs.end(), graph.find(update.output)) - outputs.begin();
  graph.set_output(static_cast<int>(at), value);
  update.output = value->name;
}

Value* Constraint::keep(const std::string& name, const Tensor& start) {
  state_.add(name, start);
  return build.graph().add_input(name, Type::tensor(start.dtype(), start.dims()));
}

void Constraint::keep_next(const Value* kept, Value* next) {
  build.graph().add_output(next);
  updates_.push_back({kept->name, next->name});
}

}  // namespace mlopt::train
