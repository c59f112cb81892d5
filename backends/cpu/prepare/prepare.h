#pragma once
#include <functional>

#include "core/exec/backend.h"
#include "core/ir/model.h"
#include "core/rewrite/pass.h"
#include "core/tensor/datum.h"

namespace mlopt::cpu {

/// Runs a model of constants only.
using Evaluate = std::function<std::vector<Datum>(const Model&)>;

/// Rewrites a model into what the kernels here run fast: integers between DequantizeLinear and QuantizeLinear become
/// operators on integers, activations join the convolution before them, stored weights that stay floats are unpacked
/// once. The result computes the same, up to rounding.
void prepare(Model& model, const Evaluate& evaluate, Precision precision);

/// The same for what shapes decide, in a graph in which they are known; `types` as for infer().
void specialize(Model& model, TypeRule types);

// The passes, one file each.
extern const Pass widen_halves;
extern const Pass widen_codes;
extern const Pass integer_conv_add;

/// DequantizeLinear of constants as constants; in bodies, whose steps are planned one by one, other operators too.
void unpack_weights(Model& model, const Evaluate& evaluate);

}  // namespace mlopt::cpu
