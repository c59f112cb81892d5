#pragma once
#include <vector>

#include "core/ir/graph.h"
#include "quantize/emit/emitted.h"
#include "quantize/spec.h"
#include "quantize/uniform/params.h"

namespace mlopt::quantize {

/// Conv, Gemm or MatMul: a layer whose input 1 is its weight.
bool is_weighted(const Node& node);

/// The axis of a layer's weight that counts its outputs.
int weight_axis(const Node& node);

/// Computes each element of its result from one of each operand, which are broadcast.
bool is_elementwise(const Node& node);

/// The axis of a constant along which scales of its own take most of the rounding away; -1 where none has several
/// indices.
int uneven_axis(const Tensor& numbers);

/// For each output channel of the layer the least scale of its weight: room for the bias (null: none) in int32, and for
/// pairs of products in int16 where the target adds them there.
std::vector<float> least_scales(const Node& layer, const Tensor& weight, const Tensor* bias, float input_scale,
                                const Spec& spec);

/// What the report says of the layer's weight in these codes, with scales along `axis` (-1: one for all).
StoredWeight stored_weight(const Node& layer, const Value& weight, const QuantizedWeight& codes, int axis,
                           const Spec& spec);

/// The zero point of a grid, a scalar of its type.
Tensor zero_point_of(const Grid& grid);

}  // namespace mlopt::quantize
