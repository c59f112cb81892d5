#include "core/train/scores.h"

#include "core/ir/view.h"
#include "core/tensor/dims.h"

namespace mlopt::train {
namespace {

const Node* maker_of(const Value* output) {
  const Node* node = output->producer;
  while (node && node->is("Identity") && node->input(0)) node = node->input(0)->producer;
  return node;
}

/// Before opset 13 a Softmax is one over all axes from its own on, of which those of length 1 make no difference.
bool is_along(const Node& softmax, const Type& type, int64_t axis, int64_t opset) {
  const auto rank = static_cast<int64_t>(type.dims->size());
  const int64_t own = normalize_axis(NodeView(softmax, opset).get_int("axis", opset < 13 ? 1 : -1), rank);
  if (opset >= 13) return own == axis;
  const std::optional<Dims> dims = type.static_dims();
  for (int64_t i = own; i < rank; ++i)
    if (i != axis && !(dims && dims->at(static_cast<size_t>(i)) == 1)) return false;
  return own <= axis;
}

}  // namespace

Value* before_softmax(Value* output, int64_t axis, int64_t opset) {
  const Node* node = maker_of(output);
  if (!node || !node->is("Softmax") || !output->type.dims) return output;
  return is_along(*node, output->type, axis, opset) ? node->input(0) : output;
}

Value* before_sigmoid(Value* output) {
  const Node* node = maker_of(output);
  return node && node->is("Sigmoid") ? node->input(0) : output;
}

}  // namespace mlopt::train
