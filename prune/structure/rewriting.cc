#include "prune/structure/rewriting.h"

namespace mlopt::prune {

void Kept::set(const Value* value, int axis, std::vector<int64_t> positions) {
  kept_[value][axis] = std::move(positions);
}

const std::vector<int64_t>* Kept::find(const Value* value, int axis) const {
  const auto it = kept_.find(value);
  if (it == kept_.end()) return nullptr;
  if (axis < 0) axis += static_cast<int>(value->type.dims->size());
  const auto found = it->second.find(axis);
  return found == it->second.end() ? nullptr : &found->second;
}

std::optional<int64_t> Kept::size(const Value* value, int axis) const {
  if (const auto* positions = find(value, axis)) return static_cast<int64_t>(positions->size());
  return (*value->type.dims)[static_cast<size_t>(axis)].value();
}

void Rewriting::set_ints(std::string_view attr, int input, int64_t since, std::vector<int64_t> values) {
  if (view.opset() < since) return node.set_attr(attr, std::move(values));
  const Value* old = node.input(input);
  const bool narrow = old && old->type.dtype == DType::kI32;
  const std::vector<int32_t> small(values.begin(), values.end());
  const Dims dims = {static_cast<int64_t>(values.size())};
  Graph& graph = *node.graph();
  graph.set_input(&node, input,
                  graph.add_constant(old ? old->name : std::string(attr),
                                     narrow ? Tensor::of<int32_t>(dims, small) : Tensor::ints(values)));
}

void Rewriting::want_shape(int input, const Value* shaped) {
  WantedShape wanted{&node, input, {}};
  bool any = false;
  for (int axis = 0; axis < static_cast<int>(shaped->type.dims->size()); ++axis) {
    const auto* positions = kept.find(shaped, axis);
    wanted.elements.push_back(positions ? std::optional(static_cast<int64_t>(positions->size())) : std::nullopt);
    any = any || positions;
  }
  if (any) wanted_.push_back(std::move(wanted));
}

}  // namespace mlopt::prune
