#include <fmt/core.h>

#include <numeric>
#include <unordered_map>

#include "core/base/error.h"
#include "core/ir/infer.h"
#include "core/tensor/cast.h"
#include "prune/structure/mask_normalization.h"
#include "prune/structure/remove.h"
#include "prune/structure/twins.h"

namespace mlopt::prune {
namespace {

/// 1 for each element of an axis that stays, 0 for the others; of axes that lose something.
std::unordered_map<size_t, std::vector<float>> axis_masks(const Relations& all, const std::vector<Group>& groups,
                                                          const Removed& removed) {
  std::unordered_map<size_t, std::vector<float>> masks;
  for (size_t g = 0; g < groups.size(); ++g)
    for (const size_t c : removed[g])
      for (const auto& [axis, position] : groups[g].channels[c]) {
        std::vector<float>& mask = masks[axis];
        mask.resize(static_cast<size_t>(all.atoms.axes()[axis].size), 1.0F);
        mask[static_cast<size_t>(position)] = 0.0F;
      }
  return masks;
}

/// Types follow from those of the inputs.
void require_type(const Model& model, const Value& x) {
  if (x.type.dtype != DType::kUndefined) return;
  const Value* unknown = &x;
  for (const Value* input : model.graph->inputs())
    if (input->type.dtype == DType::kUndefined) unknown = input;
  input_error(fmt::format("the element type of '{}' is not known", unknown->name), model.path,
              "export the model with the types of its inputs");
}

/// x times the mask along the axis, before the node.
Value* masked(const Model& model, Node& node, Value& x, int axis, const std::vector<float>& mask) {
  require_type(model, x);
  Graph& graph = *node.graph();
  const auto rank = static_cast<int>(x.type.dims->size());
  const bool legacy = model.opset() < 7;  // which aligns operands with an attribute
  Dims dims = {static_cast<int64_t>(mask.size())};
  if (!legacy) dims.resize(static_cast<size_t>(rank - axis), 1);
  Tensor numbers = Tensor::of<float>(dims, mask);
  if (x.type.dtype != DType::kF32) numbers = cast(numbers, x.type.dtype);
  std::vector<Attr> attrs;
  if (legacy) attrs = {{"axis", static_cast<int64_t>(axis), ""}, {"broadcast", int64_t{1}, ""}};
  Value* factor = graph.add_constant("kept_channels", std::move(numbers));
  return graph.add_op("Mul", {&x, factor}, std::move(attrs), &node, x.name)->output(0);
}

/// A mean over what stays, of all.
std::vector<float> raised(std::vector<float> mask) {
  const float kept = std::accumulate(mask.begin(), mask.end(), 0.0F);
  for (float& x : mask) x *= static_cast<float>(mask.size()) / kept;
  return mask;
}

}  // namespace

Model mask_channels(const Model& model, const Relations& all, const std::vector<Group>& groups,
                    const Removed& removed) {
  Model copy = clone(model);
  const Twins twins = find_twins(*model.graph, *copy.graph);
  const auto masks = axis_masks(all, groups, removed);
  std::unordered_map<const Value*, std::unordered_map<int, const std::vector<float>*>> by_value;
  for (const auto& [number, mask] : masks) {
    const Axis& axis = all.atoms.axes()[number];
    by_value[axis.value][axis.axis] = &mask;
  }
  for (const Node* node : all.normalizations) {
    const Value* x = node->input(0);
    const auto value = by_value.find(x);
    if (value == by_value.end()) continue;
    const auto mask = value->second.find(static_cast<int>(x->type.dims->size()) - 1);
    if (mask != value->second.end()) mask_normalization(copy, *twins.nodes.at(node), *mask->second);
  }
  for (const Contraction& sum : all.contractions) {
    const auto value = by_value.find(sum.node->input(sum.input));
    if (value == by_value.end()) continue;
    const auto mask = value->second.find(sum.axis);
    if (mask == value->second.end()) continue;
    Node* node = twins.nodes.at(sum.node);
    Value* x = node->input(sum.input);
    Value* product = masked(copy, *node, *x, sum.axis, sum.mean ? raised(*mask->second) : *mask->second);
    product->type = x->type;
    node->graph()->set_input(node, sum.input, product);
  }
  return copy;
}

}  // namespace mlopt::prune
