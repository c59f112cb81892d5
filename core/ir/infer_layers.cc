// Layers of networks with outputs beside the one that goes on. An empty list leaves a node to the standard's rule.
#include "core/ir/infer_types.h"

namespace mlopt::infer_rules {

/// What training counts is a vector with an element for each channel.
Types batch_normalization(const NodeView& view) {
  const size_t outputs = view.node().outputs().size();
  Types types = {type_of(view, 0)};
  for (size_t i = 1; i < outputs; ++i) types.push_back(type_of(view, 3));
  return types;
}

Types layer_normalization(const NodeView& view) {
  if (view.node().outputs().size() != 1) return {};
  return {type_of(view, 0)};
}

Types dropout(const NodeView& view) {
  if (view.node().outputs().size() != 1) return {};
  return {type_of(view, 0)};
}

/// All states with the directions before the batch, then the last ones; `layout` 1 puts the batch first.
Types recurrent(const NodeView& view) {
  const auto &x = dims_of(view, 0), &r = dims_of(view, 2);
  const bool quantized = view.node().domain == "com.microsoft";  // whose recurrent weights are transposed
  if ((!quantized && view.opset() < 7) || !x || x->size() != 3 || !r || r->size() != 3) return {};
  const Dim directions = view.get_string("direction", "forward") == "bidirectional" ? 2 : 1;
  const Dim& hidden = quantized ? (*r)[1] : r->back();
  const bool batch_first = view.get_int("layout", 0) != 0;
  const Dim &length = (*x)[batch_first ? 1 : 0], &batch = (*x)[batch_first ? 0 : 1];
  const SymDims all =
      batch_first ? SymDims{batch, length, directions, hidden} : SymDims{length, directions, batch, hidden};
  const SymDims last = batch_first ? SymDims{batch, directions, hidden} : SymDims{directions, batch, hidden};
  Types types = {Type::tensor(dtype_of(view, 0), all)};
  for (size_t i = 1; i < view.node().outputs().size(); ++i) types.push_back(Type::tensor(dtype_of(view, 0), last));
  return types;
}

}  // namespace mlopt::infer_rules
