#include "graphopt/passes/taken_rows.h"

#include "core/ir/view.h"
#include "core/rewrite/numbers.h"

namespace mlopt::graphopt {

std::optional<size_t> place_in(int64_t i, size_t length) {
  i += i < 0 ? static_cast<int64_t>(length) : 0;
  return i < 0 || i >= static_cast<int64_t>(length) ? std::nullopt : std::optional(static_cast<size_t>(i));
}

std::optional<TakenRows> gathered(const Value& y, int64_t opset) {
  const size_t count = y.uses.size();
  TakenRows rows{0, std::vector<Value*>(count, nullptr), static_cast<int64_t>(count)};
  for (size_t i = 0; i < count; ++i) {
    Node* node = y.uses[i].node;
    if (!node->is("Gather") || y.uses[i].index != 0 || node->graph() != y.graph) return std::nullopt;
    if (!node->output(0)) return std::nullopt;
    const auto axis = place_in(NodeView(*node, opset).get_int("axis", 0), y.type.dims->size());
    const Tensor* index = node->input(1)->known_constant();
    if (!axis || !index || index->rank() != 0 || (i > 0 && *axis != rows.axis)) return std::nullopt;
    const auto place = place_in(static_cast<int64_t>(number_at(*index, 0)), count);
    if (!place || !(*y.type.dims)[*axis].is(static_cast<int64_t>(count)) || rows.values[*place]) return std::nullopt;
    rows.axis = *axis;
    rows.values[*place] = node->output(0);
  }
  return rows;
}

}  // namespace mlopt::graphopt
