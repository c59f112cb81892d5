#include "prune/structure/remove.h"

#include <fmt/core.h>

#include "core/base/error.h"
#include "core/rewrite/pass.h"
#include "core/tensor/kept_in_file.h"
#include "core/tensor/picked.h"
#include "prune/structure/rules.h"
#include "prune/structure/shapes.h"
#include "prune/structure/twins.h"

namespace mlopt::prune {
namespace {

/// What stays of the values of the copy.
Kept kept_positions(const Relations& all, const std::vector<Group>& groups, const Removed& removed,
                    const Twins& twins) {
  std::unordered_map<size_t, std::vector<bool>> gone;
  for (size_t g = 0; g < groups.size(); ++g)
    for (const size_t c : removed[g])
      for (const auto& [axis, position] : groups[g].channels[c]) {
        std::vector<bool>& flags = gone[axis];
        flags.resize(static_cast<size_t>(all.atoms.axes()[axis].size));
        flags[static_cast<size_t>(position)] = true;
      }
  Kept kept;
  for (const auto& [number, flags] : gone) {
    std::vector<int64_t> positions;
    for (size_t i = 0; i < flags.size(); ++i)
      if (!flags[i]) positions.push_back(static_cast<int64_t>(i));
    const Axis& axis = all.atoms.axes()[number];
    if (positions.empty())
      internal_error(fmt::format("nothing would be left of axis {} of '{}'", axis.axis, axis.value->name));
    kept.set(twins.values.at(axis.value), axis.axis, std::move(positions));
  }
  return kept;
}

/// A constant of the new shape over the first bytes of the old one.
Tensor shortened(const Tensor& tensor, int axis, int64_t size) {
  Dims dims = tensor.dims();
  dims[static_cast<size_t>(axis)] = size;
  const size_t bytes = packed_bytes(tensor.dtype(), element_count(dims));
  const auto owner = std::make_shared<const Tensor>(tensor);
  return Tensor::view(tensor.dtype(), dims, owner->raw_bytes().first(bytes), owner);
}

constexpr size_t kSpilledBytes = size_t{1} << 14;

/// Constants lose what goes; types of all others are what they will be.
void cut(const Kept& kept, bool only_shapes, const std::string& spill) {
  for (const auto& [constant_value, axes] : kept.all()) {
    auto* value = const_cast<Value*>(constant_value);  // of the copy, which is ours
    for (const auto& [axis, positions] : axes) {
      (*value->type.dims)[static_cast<size_t>(axis)] = static_cast<int64_t>(positions.size());
      if (!value->constant) continue;
      // Numbers of shapes count even where others do not.
      const bool keeps_numbers = !only_shapes || is_integer(value->constant->dtype());
      const Tensor before = *value->constant;
      value->constant = keeps_numbers ? picked(*value->constant, axis, positions)
                                      : shortened(*value->constant, axis, static_cast<int64_t>(positions.size()));
      if (keeps_numbers) before.release_pages();
    }
    if (!spill.empty() && value->constant && value->constant->bytes() >= kSpilledBytes)
      value->constant = kept_in_file(*value->constant, spill);
  }
}

void require_planned(const Kept& kept) {
  for (const auto& [value, axes] : kept.all())
    for (const auto& [axis, positions] : axes) {
      const auto& dims = value->type.dims;
      if (!dims || static_cast<int>(dims->size()) <= axis) continue;
      const auto size = (*dims)[static_cast<size_t>(axis)].value();
      if (size && *size != static_cast<int64_t>(positions.size()))
        internal_error(fmt::format("axis {} of '{}' should have {} channels after pruning and has {}", axis,
                                   value->name, positions.size(), *size));
    }
}

Model without_channels(const Model& model, const Relations& all, const std::vector<Group>& groups,
                       const Removed& removed, TypeRule standard, bool only_shapes, const std::string& spill = {}) {
  Model copy = clone(model);
  const Kept kept = kept_positions(all, groups, removed, find_twins(*model.graph, *copy.graph));
  std::vector<WantedShape> wanted;
  for (Node* node : all_nodes(*copy.graph)) {
    const AxisRule* rule = rule_of(*node);
    if (!rule || !rule->rewrite) continue;
    Rewriting rewriting(*node, copy.opset(node->domain), kept, wanted);
    rule->rewrite(rewriting);
  }
  cut(kept, only_shapes, spill);
  rewrite_constant_shapes(wanted);
  infer(copy, standard);
  if (rewrite_computed_shapes(wanted)) infer(copy, standard);
  require_planned(kept);
  remove_dead(copy);  // shapes that others took the place of
  return copy;
}

}  // namespace

Model remove_channels(const Model& model, const Relations& all, const std::vector<Group>& groups,
                      const Removed& removed, TypeRule standard, const std::string& spill) {
  return without_channels(model, all, groups, removed, standard, false, spill);
}

Model shapes_without_channels(const Model& model, const Relations& all, const std::vector<Group>& groups,
                              const Removed& removed, TypeRule standard) {
  return without_channels(model, all, groups, removed, standard, true);
}

}  // namespace mlopt::prune
