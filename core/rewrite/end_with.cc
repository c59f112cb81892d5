#include "core/rewrite/end_with.h"

#include <algorithm>

#include "core/rewrite/pass.h"

namespace mlopt {

void end_with(Model& model, std::span<const std::string> names) {
  Graph& graph = *model.graph;
  const size_t given = graph.outputs().size();
  for (size_t i = 0; i < std::max(given, names.size()); ++i) {
    Value* value = graph.find(names[std::min(i, names.size() - 1)]);
    if (i < given)
      graph.set_output(static_cast<int>(i), value);
    else
      graph.add_output(value);
  }
  remove_dead(model);
}

}  // namespace mlopt
