#include "core/exec/watched.h"

#include <algorithm>

namespace mlopt {

bool watch(Graph& graph, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    Value* value = graph.find(name);
    if (!value || value->graph != &graph) return false;
    if (value->producer && !value->is_output()) graph.add_output(value);
  }
  return true;
}

bool may_be_given_up(const Plan::Parts& parts) {
  return std::any_of(parts.steps.begin(), parts.steps.end(),
                     [](const Plan::AnyStep& step) { return std::holds_alternative<Plan::General>(step); });
}

}  // namespace mlopt
