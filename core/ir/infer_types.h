#pragma once
#include <optional>
#include <vector>

#include "core/ir/infer_rules.h"

namespace mlopt::infer_rules {

/// Types of a node's outputs; the rules of one operator each.
using Types = std::vector<Type>;
using TypeOf = Types (*)(const NodeView&);

const Type& type_of(const NodeView& view, int i);
const std::optional<SymDims>& dims_of(const NodeView& view, int i);
DType dtype_of(const NodeView& view, int i);
Types one(DType dtype, std::optional<SymDims> dims);
/// Shapes under broadcasting; a dimension that is an integer above 1 wins over what is not known.
std::optional<SymDims> broadcast_dims(const std::optional<SymDims>& a, const std::optional<SymDims>& b);

/// The shape of NumPy's matmul.
std::optional<SymDims> product_dims(const std::optional<SymDims>& a, const std::optional<SymDims>& b);

Types concat(const NodeView& view);
Types gather(const NodeView& view);
Types reshape(const NodeView& view);
Types flatten(const NodeView& view);
Types unsqueeze(const NodeView& view);
Types squeeze(const NodeView& view);
Types slice(const NodeView& view);
Types expand(const NodeView& view);
Types transpose(const NodeView& view);
Types constant_of_shape(const NodeView& view);

Types convolution(const NodeView& view);
/// With the source in input `x` and the weights in input `w`.
Types convolution_of(const NodeView& view, int x, int w, DType made);
Types pool(const NodeView& view);
Types global_pool(const NodeView& view);

/// Of operators on integers with scales and zero points; nothing for others.
std::optional<Types> quantized_types(const NodeView& view);

}  // namespace mlopt::infer_rules
